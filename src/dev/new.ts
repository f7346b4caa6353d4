/** `npm run new -- <id>`: the files of a new transform, ready to be filled in. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { exportedName } from './docs-index.js';
import { root } from './project.js';

const [id] = process.argv.slice(2);
if (id === undefined || !/^[a-z][a-z0-9]*(?:-[a-z0-9]+)+$/.test(id)) {
  fail(
    'No id for the new transform',
    `An id is kebab-case with two words or more; got ${JSON.stringify(id)}.`,
  );
} else if (existsSync(join(root, 'transforms', `${id}.ts`))) {
  fail(`${id} exists`, `There is a file transforms/${id}.ts.`);
} else scaffold(id);

function scaffold(name: string): void {
  const files: Readonly<Record<string, string>> = {
    [`transforms/${name}.ts`]: source(name),
    [`fixtures/${name}/fix-plain/input.py`]: 'import torch\n',
    [`fixtures/${name}/fix-plain/findings.json`]: '[]\n',
    [`fixtures/${name}/keep-already-right/input.py`]: 'import torch\n',
    [`fixtures/${name}/keep-already-right/findings.json`]: '[]\n',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { flag: 'wx' });
    process.stdout.write(`wrote ${path}\n`);
  }
  const { status } = spawnSync('npm', ['run', '--silent', 'docs'], { cwd: root, stdio: 'inherit' });
  process.stdout.write(
    `\nNext: fill in transforms/${name}.ts, write fixtures/${name}/*/input.py, then\n` +
      `  npm run record -- ${name}   # writes findings.json and output.py of its fixtures: read the diff\n` +
      `  npm test -- ${name}         # holds its fixtures to the laws\n`,
  );
  process.exitCode = status ?? 1;
}

function source(name: string): string {
  return `import type { EditBuilder, Fix, PyModule, Refusal, Site, Transform } from '../src/toolkit/index.js';

/*
 * before                            after
 *   …                                 …
 *
 * Proves: …
 * Leaves alone: … because …
 */

export const ${exportedName(name)}: Transform = {
  meta: {
    id: '${name}',
    summary: 'What the fix does, in one line',
    symptom: 'leak',
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'default',
    options: {},
    requires: {},
    docs: {
      why: 'What is held or wasted, and what it costs.',
      does: 'What is written instead.',
      refuses: [],
      limits: [],
    },
    evidence: {
      verdict: 'Not measured.',
      measurements: [],
      gpu: { notMeasured: 'nobody has run it on a GPU yet' },
    },
    origin: [],
    example: 'fix-plain',
  },

  // Literals that every file with a finding contains; the rarer the better.
  prefilter: ['a_literal_of_the_site('],

  *detect(_module: PyModule): Iterable<Site> {},

  fix(_site: Site, _edit: EditBuilder): Fix | Refusal {
    return { kind: 'refusal', reason: 'the fix is not written yet' };
  },
};
`;
}

function fail(title: string, detail: string): void {
  process.stderr.write(
    `${title}\n  ${detail}\n  Next: npm run new -- <id>, for example npm run new -- pin-memory\n`,
  );
  process.exitCode = 2;
}
