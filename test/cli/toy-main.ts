/** memfix as a process, with toy transforms. */
import { runProcess } from '../../src/cli/process.js';

await runProcess(async () => (await import('./toys.js')).TOYS);
