import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../src/dev/project.js';

const read = (path: string) => readFileSync(join(root, path), 'utf8');

test('the VS Code extension sets what the server understands', () => {
  const { contributes, version } = JSON.parse(read('editors/vscode/package.json'));
  const settings = Object.keys(contributes.configuration.properties).map((name) =>
    name.replace('memfix.', ''),
  );
  const understood = read('src/cli/server/workspaces.ts');
  const sent = read('editors/vscode/src/extension.ts');
  for (const name of settings.filter((each) => each !== 'command')) {
    expect(understood).toMatch(new RegExp(`(?:words\\('|given\\[')${name}'`));
    expect(sent).toContain(`${name}: of('${name}')`);
  }
  expect(settings).toContain('command');
  expect(version).toBe(JSON.parse(read('package.json')).version);
  expect(read('editors/vscode/LICENSE')).toBe(read('LICENSE'));
});
