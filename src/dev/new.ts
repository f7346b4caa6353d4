/** `npm run new -- <id>`: the files of a new transform, ready to be filled in. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { NEW_ID, transformFiles } from '../workspace/plugins/scaffold.js';
import { writeNew } from '../workspace/plugins/write-new.js';
import { root } from './project.js';

const [id] = process.argv.slice(2);
if (id === undefined || !NEW_ID.test(id)) {
  fail(
    'No id for the new transform',
    `An id is kebab-case with two words or more; got ${JSON.stringify(id)}.`,
  );
} else if (existsSync(join(root, 'transforms', `${id}.ts`))) {
  fail(`${id} exists`, `There is a file transforms/${id}.ts.`);
} else scaffold(id);

function scaffold(name: string): void {
  for (const path of writeNew(root, transformFiles(name))) process.stdout.write(`wrote ${path}\n`);
  const { status } = spawnSync('npm', ['run', '--silent', 'docs'], { cwd: root, stdio: 'inherit' });
  process.stdout.write(
    `\nIt removes calls of \`torch.cuda.empty_cache\`, as an example. Change transforms/${name}.ts and fixtures/${name}/, then\n` +
      `  npm run record -- ${name}   # writes findings.json of its fixtures, and output.py where there is none: read the diff\n` +
      `  npm test -- ${name}         # holds its fixtures to the laws\n`,
  );
  process.exitCode = status ?? 1;
}

function fail(title: string, detail: string): void {
  process.stderr.write(
    `${title}\n  ${detail}\n  Next: npm run new -- <id>, for example npm run new -- pin-memory\n`,
  );
  process.exitCode = 2;
}
