import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { plural } from '../report/prose.js';
import { shownFrom } from '../workspace/places.js';
import { State } from '../workspace/state.js';
import type { Context } from './context.js';

/** Puts in order what a memfix that was killed has left in a project. */
export async function tidy(context: Context, root: string): Promise<void> {
  const state = State.of(root, context.io.env);
  if (!existsSync(join(state.folder, 'journal'))) return;
  const { cleanUp } = await import('../workspace/undo.js');
  const { drafts, finished } = cleanUp(state);
  for (const path of finished)
    context.say(`${shownFrom(context.io.cwd, path)}: wrote the rest, which a killed memfix had not written`);
  if (drafts.length > 0)
    context.say(`Removed ${plural(drafts.length, 'draft')} that a killed memfix had left.`);
}
