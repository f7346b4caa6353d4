import { Readable } from 'node:stream';
import { run } from '../cli/run.js';
import { EFFECT_WORDS } from '../report/effects.js';
import { freed } from '../report/evidence.js';
import { markdownTable } from '../report/page.js';
import type { Transform, TransformMeta } from '../toolkit/contract.js';
import { effectOf } from '../toolkit/effect.js';
import { catalogueOf } from '../workspace/catalogue.js';
import { root } from './project.js';

/** Columns of the terminal that the README shows. */
export const COLUMNS = 80;

/** The two command lines that the README begins with, and how much of the second it shows. */
export const DEMO = 'check fixtures/_demo';
export const OOM = 'check --oom fixtures/_demo/oom.log fixtures/_demo';
export const OOM_BLOCKS = 5;

/** What a command line of memfix prints in this repository, in a terminal of that width. */
export async function printed(words: readonly string[], transforms: readonly Transform[]): Promise<string> {
  let text = '';
  const outlet = {
    isTTY: true,
    columns: COLUMNS,
    write: (data: string | Uint8Array) => (text += String(data)),
  };
  await run(
    words,
    {
      cwd: root,
      // Without colours and progress.
      env: { TERM: 'dumb' },
      stdin: Readable.from([]),
      stdout: outlet,
      stderr: outlet,
      signal: new AbortController().signal,
    },
    async () => catalogueOf(transforms),
  );
  return text;
}

/** A command and what it prints; the rest of it, after the first blocks, is left out where a number of blocks is given. */
export async function shell(
  words: string,
  transforms: readonly Transform[],
  blocks?: number,
): Promise<string> {
  const text = await printed(words.split(' '), transforms);
  const parts = text.split('\n\n');
  const shown =
    blocks === undefined || parts.length <= blocks ? text : `${parts.slice(0, blocks).join('\n\n')}\n\n…\n`;
  return `\`\`\`\n$ npx memfix ${words}\n${shown}\`\`\``;
}

/** Rows of the table of what was freed. */
const MOST = 8;

/** What the safe transforms that are on by default freed where they were measured, the largest share first. */
export function freedTable(metas: readonly TransformMeta[]): string {
  const rows = metas
    .filter((meta) => meta.group === 'default' && meta.safety === 'safe' && effectOf(meta) === 'frees-memory')
    .flatMap((meta) => freed(meta).map((row) => ({ ...row, meta })))
    .sort((a, b) => b.share - a.share)
    .slice(0, MOST)
    .map(({ meta, what, before, after, share }) => [
      `[\`${meta.id}\`](transforms/${meta.id}.md)`,
      what,
      before,
      after,
      // Not to be broken in a narrow column.
      `−${Math.round(100 * share)}&nbsp;%`,
    ]);
  return markdownTable([EFFECT_WORDS['frees-memory'], 'measured on', 'before', 'after', ''], rows);
}
