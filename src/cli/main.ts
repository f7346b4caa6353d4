#!/usr/bin/env node
import { runProcess } from './process.js';

await runProcess(async () => (await import('../../transforms/index.js')).transforms, import.meta.url);
