import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../src/dev/project.js';
import { inTurn } from '../../src/dev/turns.js';

/** Where `npm run wheel` leaves its wheel. */
export const WHEELS = join(root, 'build');

/** Builds the wheel of what is in `dist/`, once for all test files of a run. */
export function buildWheel(): void {
  const turns = join(root, 'node_modules', '.cache');
  mkdirSync(turns, { recursive: true });
  inTurn(join(turns, 'memfix-wheel.lock'), () => {
    const sources = [
      'dist/build-id',
      'python/memfix/__main__.py',
      'python/pyproject.toml',
      'README.md',
      'src/dev/wheel.ts',
    ];
    const today = sources.map((name) => readFileSync(join(root, name), 'utf8')).join('\0');
    const mark = join(WHEELS, 'made-of');
    if (existsSync(mark) && readFileSync(mark, 'utf8') === today) return;
    const script = join(root, 'src', 'dev', 'wheel.ts');
    const made = spawnSync(process.execPath, ['--import', 'tsx', script, '--built'], {
      cwd: root,
      encoding: 'utf8',
    });
    if (made.status !== 0) throw new Error(made.stdout + made.stderr);
    writeFileSync(mark, today);
  });
}
