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
    [`fixtures/${name}/fix-plain/input.py`]:
      'import torch\n\n\ndef clean():\n    print("a")\n    torch.cuda.empty_cache()\n',
    [`fixtures/${name}/keep-already-right/input.py`]: 'import torch\n\n\ndef clean():\n    print("a")\n',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { flag: 'wx' });
    process.stdout.write(`wrote ${path}\n`);
  }
  const { status } = spawnSync('npm', ['run', '--silent', 'docs'], { cwd: root, stdio: 'inherit' });
  process.stdout.write(
    `\nIt removes calls of \`torch.cuda.empty_cache\`, as an example. Change transforms/${name}.ts and fixtures/${name}/, then\n` +
      `  npm run record -- ${name}   # writes findings.json and output.py of its fixtures: read the diff\n` +
      `  npm test -- ${name}         # holds its fixtures to the laws\n`,
  );
  process.exitCode = status ?? 1;
}

function source(name: string): string {
  return `/*
 * before                            after
 *   …                                 …
 *
 * Proves: …
 * Leaves alone: … because …
 */
import {
  ask,
  EMPTY_CACHE,
  Proof,
  type PyNode,
  qualifiedName,
  type Site,
  shown,
  type Transform,
} from '../src/toolkit/index.js';

/** What \`detect\` has seen and \`fix\` needs. */
interface Found extends Site {
  readonly statement: PyNode;
}

export const ${exportedName(name)}: Transform<Found> = {
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
  prefilter: ['empty_cache('],

  *detect(module) {
    for (const node of module.at('empty_cache(')) {
      const statement = node.closest('expression_statement');
      const callee = node.closest('call')?.function;
      if (statement === undefined || callee === undefined) continue;
      // A name is what the imports say, never its spelling. Dotted names are constants of src/torch/catalog.ts.
      if (qualifiedName(module, callee) !== EMPTY_CACHE) continue;
      yield { node, statement, message: 'what is held, and what it costs' };
    }
  },

  fix({ statement }, edit) {
    // A condition that the code proves is \`yes\`; \`no\` refuses the site; \`unknown\` makes the finding unsafe and asks.
    const proof = new Proof().require(
      'unknown',
      ask('cache-unneeded')\`Does what follows \${shown(statement)} do without the memory that it gives back?\`,
    );
    edit.removeStatement(statement);
    return edit.done('Remove the call', proof);
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
