import { resolve } from 'node:path';
import type { BesideChange } from '../engine/outcome.js';
import { decode, type SourceText } from '../text/decode.js';
import { Reader } from './read.js';

/** Another file that a fix changes, as it is on disk; or why it is not what the fix was made for. */
export function besideChange(
  cwd: string,
  { path, before }: BesideChange,
): { readonly target: string; readonly source: SourceText } | string {
  const target = resolve(cwd, path);
  const opened = new Reader().open({ path, target, explicit: false });
  if (opened.kind === 'skipped') return opened.reason;
  const decoded = decode(opened.bytes);
  if (!decoded.ok) return decoded.reason;
  return decoded.source.text === before
    ? { target, source: decoded.source }
    : 'it changed on disk after it was read';
}
