import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { showInBrowser } from '../../src/cli/browser.js';
import { folderWith } from '../workspace/folders.js';

test('a browser is led to a secret address by a file that only its owner reads', async () => {
  const folder = folderWith({
    'xdg-open': `#!/bin/sh\ncd "$(dirname "$0")"\necho "$@" > words\nstat -c %a "$1" > mode\ncat "$1" > page\nmv page told\n`,
  });
  chmodSync(join(folder, 'xdg-open'), 0o755);
  const env = { PATH: `${folder}:${process.env['PATH']}`, DISPLAY: ':0' };
  const unshow = showInBrowser('http://127.0.0.1:1/secret/', env);
  const read = (name: string) => readFileSync(join(folder, name), 'utf8').trim();
  while (!existsSync(join(folder, 'told'))) await pause(20);
  expect(read('words')).not.toContain('secret');
  expect(read('mode')).toBe('600');
  expect(read('told')).toContain('url=http://127.0.0.1:1/secret/');
  unshow?.();
  expect(existsSync(read('words'))).toBe(false);
});

test('where there is no screen, or nothing to open it with, the address is all there is', async () => {
  expect(showInBrowser('http://127.0.0.1:1/secret/', { PATH: process.env['PATH'] })).toBeUndefined();
  const unshow = showInBrowser('http://127.0.0.1:1/secret/', { PATH: folderWith(), DISPLAY: ':0' });
  await pause(50);
  unshow?.();
});
