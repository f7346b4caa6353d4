/** What a new transform begins with, in memfix itself and in a plugin: it removes calls of `empty_cache`, as an example. */

export type Files = Readonly<Record<string, string>>;

export const NEW_ID = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)+$/;

/** The name of its constant or function. */
export function exportedName(id: string): string {
  return id.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** A transform of memfix, from the root of its checkout. */
export function transformFiles(id: string): Files {
  return {
    [`transforms/${id}.ts`]: transformSource(id),
    ...fixtureFiles(`fixtures/${id}`),
  };
}

/** A plugin in a folder of the user's own. */
export function pluginFiles(id: string): Files {
  return {
    [`${id}.mjs`]: pluginSource(id),
    [`${id}.test.mjs`]: testSource(id),
    ...fixtureFiles(`fixtures/${id}`),
  };
}

function fixtureFiles(folder: string): Files {
  return {
    [`${folder}/fix-plain/input.py`]:
      'import torch\n\n\ndef clean():\n    print("a")\n    torch.cuda.empty_cache()\n',
    [`${folder}/keep-already-right/input.py`]: 'import torch\n\n\ndef clean():\n    print("a")\n',
  };
}

const HEADER = `/*
 * before                            after
 *   …                                 …
 *
 * Proves: …
 * Leaves alone: … because …
 */
`;

function transformSource(id: string): string {
  return `${HEADER}import {
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

export const ${exportedName(id)}: Transform<Found> = {
  meta: {
    id: '${id}',
${META}    group: 'default',
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

${workOf('EMPTY_CACHE', 'Dotted names are constants of src/library/names.ts.')}};
`;
}

function pluginSource(id: string): string {
  const name = exportedName(id);
  const work = workOf(
    `'torch.cuda.empty_cache'`,
    'A file that imports something else under that name has none.',
  );
  return `${HEADER}
/** @type {import('memfix/toolkit').Plugin} */
export default { apiVersion: 1, transforms: (toolkit) => [${name}(toolkit)] };

/**
 * @param {import('memfix/toolkit').PluginToolkit} toolkit
 * @returns {import('memfix/toolkit').PluginTransform<import('memfix/toolkit').Site & { statement: import('memfix/toolkit').PyNode }>}
 */
function ${name}({ ask, Proof, qualifiedName, shown }) {
  return {
    meta: {
      id: '${id}',
${indented(META)}      docs: {
        why: 'What is held or wasted, and what it costs.',
        does: 'What is written instead.',
      },
      example: 'fix-plain',
    },

${indented(work)}  };
}
`;
}

const META = `    summary: 'What the fix does, in one line',
    symptom: 'leak',
    safety: 'safe',
    numerics: 'bit-identical',
`;

/** How it finds and fixes; `empty` is the dotted name of what it looks for. */
function workOf(empty: string, remark: string): string {
  return `  // Literals that every file with a finding contains; the rarer the better.
  prefilter: ['empty_cache('],

  *detect(module) {
    for (const node of module.at('empty_cache(')) {
      const statement = node.closest('expression_statement');
      const callee = node.closest('call')?.function;
      if (statement === undefined || callee === undefined) continue;
      // A name is what the imports say, never its spelling. ${remark}
      if (qualifiedName(module, callee) !== ${empty}) continue;
      yield { node, statement, message: 'what is held, and what it costs' };
    }
  },

  fix({ statement }, edit) {
    // A condition that the code proves is \`yes\`; \`no\` refuses the site; \`unknown\` makes the finding unsafe and asks.
    const proof = new Proof().require(
      'unknown',
      ask('cache-unneeded')\`Does what follows \\\`\${shown(statement)}\\\` do without the memory it gives back?\`,
    );
    edit.removeStatement(statement);
    return edit.done('Remove the call', proof);
  },
`;
}

function testSource(id: string): string {
  return `// node --test, where memfix is installed with npm; \`memfix test-transform\` does the same without. Also works with vitest.
import { test } from 'node:test';
import { laws } from 'memfix/testing';

for (const { name, check } of await laws(new URL('./${id}.mjs', import.meta.url))) test(name, check);
`;
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
