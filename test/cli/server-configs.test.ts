import { describe, expect, test } from 'vitest';
import { Client } from '../support/language-client.js';
import { put } from '../workspace/folders.js';

const CODE = 'hold()\nrisk()\n';
const codes = (found: readonly { readonly code?: unknown }[]) => found.map(({ code }) => code);

describe('in an editor', () => {
  test('each file goes by the nearest config, and a config that changes counts at once', async () => {
    const client = await Client.start({
      'memfix.toml': 'ignore = ["calm-risk"]\n',
      'pk/memfix.toml': 'select = ["calm-risk"]\n',
      'pk/gone/memfix.toml': 'exclude = ["*"]\n',
    });
    expect(codes(await client.open('top.py', CODE))).toEqual(['drop-hold']);
    expect(codes(await client.open('pk/a.py', CODE))).toEqual(['calm-risk']);
    put(client.cwd, { 'pk/memfix.toml': '' });
    await client.connection.sendNotification('workspace/didChangeWatchedFiles', {
      changes: [{ uri: client.uri('pk/memfix.toml'), type: 2 }],
    });
    expect(codes(await client.diagnostics(client.uri('pk/a.py')))).toEqual(['drop-hold', 'calm-risk']);
  });

  test('it asks to be told of configs, where the editor can', async () => {
    const asked = new Promise<unknown>((done) => {
      void Client.start(
        { 'a.py': '' },
        { capabilities: { workspace: { didChangeWatchedFiles: { dynamicRegistration: true } } } },
        (connection) =>
          connection.onRequest('client/registerCapability', (params: unknown) => void done(params)),
      );
    });
    expect(JSON.stringify(await asked)).toContain('"globPattern":"**/pyproject.toml"');
  });

  test('a setting that does not count is told', async () => {
    const client = await Client.start(
      { 'a.py': '' },
      { initializationOptions: { settings: { select: 'leak', ignor: ['sync'], unsafeFixes: true } } },
    );
    await client.open('a.py', CODE);
    expect(client.errors).toEqual([
      'memfix: the setting `select` does not count: it must be a list of names.',
      'memfix: the setting `ignor` is none of memfix. Did you mean `ignore`?',
    ]);
  });

  test('a cursor anywhere on the line is offered what stands there; one on a finding, that one', async () => {
    const client = await Client.start({ 'a.py': '' });
    await client.open('a.py', 'x = [hold(), risk(), 1 + 1]\ny = 1\n');
    const at = async (line: number, character: number) => {
      const place = { line, character };
      return (await client.actions(client.uri('a.py'), { start: place, end: place })).map(
        ({ title }) => title,
      );
    };
    const ids = (titles: readonly string[]) =>
      titles.flatMap((title) => /ignore (\S+) here/.exec(title)?.[1] ?? []);
    expect(ids(await at(0, 24))).toEqual(['drop-hold', 'calm-risk']);
    expect(ids(await at(0, 6))).toEqual(['drop-hold']);
    expect(await at(1, 0)).toEqual([]);
  });
});
