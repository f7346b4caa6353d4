import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Before any test: a place for what memfix keeps, for all processes that tests start. The user's own is left alone. */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'memfix-state-'));
  process.env['MEMFIX_STATE_DIR'] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
