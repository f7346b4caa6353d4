import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { BesideChange } from '../engine/outcome.js';
import { decode, type SourceText } from '../text/decode.js';
import { reasonOf } from './failure.js';
import { leadsAway } from './places.js';
import { Reader } from './read.js';

/** Another file that a fix changes, as it is on disk; or why it is not what the fix was made for. */
export function besideChange(
  cwd: string,
  { path, before }: BesideChange,
): { readonly target: string; readonly source: SourceText } | string {
  let target: string;
  try {
    target = realpathSync.native(resolve(cwd, path));
  } catch (error) {
    return reasonOf(error);
  }
  const away = leadsAway(resolve(cwd, path), target, cwd);
  if (away !== undefined) return away;
  const opened = new Reader().open({ path, target, explicit: false });
  if (opened.kind === 'skipped') return opened.reason;
  const decoded = decode(opened.bytes);
  if (!decoded.ok) return decoded.reason;
  return decoded.source.text === before
    ? { target, source: decoded.source }
    : 'it changed on disk after it was read';
}
