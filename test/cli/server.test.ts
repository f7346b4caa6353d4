import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CodeAction, LSPErrorCodes, type Range } from 'vscode-languageserver/node';
import { Client } from '../support/language-client.js';
import { put } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const titled = (actions: readonly CodeAction[], word: string) =>
  actions.find(({ title }) => title.includes(word));

describe('memfix server', () => {
  test('loads no plugin that the user does not trust, and says so once', async () => {
    const client = await Client.start({
      'a.py': '',
      'memfix.toml': 'plugins = ["./mop.mjs"]\n',
      'mop.mjs':
        'import { writeFileSync } from "node:fs";\nwriteFileSync(new URL("ran", import.meta.url), "");\n',
    });
    expect(await client.open('a.py', 'hold()\n')).toHaveLength(1);
    await client.change('a.py', 2, 'hold()\nhold()\n');
    expect(await client.diagnostics(client.uri('a.py'), 2)).toHaveLength(2);
    expect(client.errors).toEqual([
      expect.stringContaining('Not loaded: the plugin ./mop.mjs of memfix.toml'),
    ]);
    expect(existsSync(join(client.cwd, 'ran'))).toBe(false);
  });

  test('goes on without a plugin that cannot be loaded', async () => {
    const client = await Client.start({
      'a.py': '',
      'memfix.toml': 'plugins = ["./mop.mjs"]\n',
      'mop.mjs': '',
    });
    expect((await memfix({ cwd: client.cwd }, 'trust')).code).toBe(0);
    expect(await client.open('a.py', 'hold()\n')).toHaveLength(1);
    expect(client.errors).toEqual([expect.stringContaining('./mop.mjs: its default export is no object')]);
  });

  test('tells of findings in a text as it is in the editor, and follows it', async () => {
    const client = await Client.start({ 'a.py': '' });
    const [first, ...more] = await client.open('a.py', 'x = "🙂"; hold()\r\nfine()\r\n');
    expect(more).toEqual([]);
    expect(first).toMatchObject({
      range: { start: { line: 0, character: 10 }, end: { line: 0, character: 14 } },
      severity: 2,
      source: 'memfix',
      code: 'drop-hold',
      message: 'hold costs memory\nFix (safe): Change hold',
    });
    await client.change('a.py', 2, 'x');
    await client.change('a.py', 3, 'risk()\n');
    const [risk] = await client.diagnostics(client.uri('a.py'), 3);
    expect(risk).toMatchObject({
      severity: 3,
      message: expect.stringContaining('Is `risk` read only here?'),
    });
    await client.change('a.py', 4, 'hold(\n');
    expect(await client.diagnostics(client.uri('a.py'), 4)).toEqual([]);
  });

  test('fixes one, all of a kind, and all that is safe; unsafe ones say so', async () => {
    const client = await Client.start({ 'a.py': '' });
    const text = 'x = "🙂"; hold()\r\nrisk()\r\nhold()\r\n';
    const uri = client.uri('a.py');
    const [, risk] = await client.open('a.py', text);
    const at = { line: 0, character: 11 };
    const actions = await client.actions(uri, { start: at, end: at });
    expect(actions.map(({ title }) => title)).toEqual([
      'Change hold',
      'memfix: fix all 2 drop-hold in this file',
      'memfix: ignore drop-hold here, with a comment',
      'memfix: apply all 2 safe fixes of this file',
    ]);
    expect(actions[0]).toMatchObject({ isPreferred: true, diagnostics: [{ code: 'drop-hold' }] });
    expect(await client.after(actions[0], uri, text)).toBe('x = "🙂"; release()\r\nrisk()\r\nhold()\r\n');
    const all = 'x = "🙂"; release()\r\nrisk()\r\nrelease()\r\n';
    expect(await client.after(actions[1], uri, text)).toBe(all);
    expect(await client.after(actions[2], uri, text)).toBe(
      'x = "🙂"; hold()  # memfix: ignore[drop-hold]\r\nrisk()\r\nhold()\r\n',
    );
    expect(await client.after(actions[3], uri, text)).toBe(all);
    const whole = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
    const [fixAll, ...others] = await client.actions(uri, whole, ['source.fixAll']);
    expect([fixAll?.kind, others]).toEqual(['source.fixAll.memfix', []]);
    expect(await client.after(fixAll, uri, text)).toBe(all);
    const unsafe = titled(await client.actions(uri, risk?.range ?? whole), 'Calm it');
    expect(unsafe).toMatchObject({ title: 'Calm it (unsafe)' });
    expect(unsafe?.isPreferred).toBeUndefined();
    expect(await client.after(unsafe, uri, text)).toContain('calm()');
  });

  test('takes no action on a text that has changed since', async () => {
    const client = await Client.start({ 'a.py': '' });
    const [found] = await client.open('a.py', 'hold()\n');
    const [action] = await client.actions(client.uri('a.py'), found?.range as Range);
    await client.change('a.py', 2, 'y\nhold()\n');
    await expect(client.connection.sendRequest('codeAction/resolve', action)).rejects.toMatchObject({
      code: -32801,
    });
  });

  test('gives edits at once to a client that cannot ask for them', async () => {
    const client = await Client.start({ 'a.py': '' }, { capabilities: {} });
    const [found] = await client.open('a.py', 'hold()\n');
    const [action] = await client.actions(client.uri('a.py'), found?.range as Range);
    expect(action?.edit?.changes?.[client.uri('a.py')]).toHaveLength(1);
  });

  test('explains a finding where the pointer rests', async () => {
    const client = await Client.start({ 'a.py': '' });
    await client.open('a.py', 'hold()\nx\n');
    const hoverAt = (line: number) =>
      client.connection.sendRequest('textDocument/hover', {
        textDocument: { uri: client.uri('a.py') },
        position: { line, character: 1 },
      });
    expect(await hoverAt(0)).toMatchObject({
      contents: {
        kind: 'markdown',
        value: expect.stringMatching(/\*\*drop-hold\*\* safe[\s\S]*Measured:\* not measured/),
      },
    });
    expect(await hoverAt(1)).toBeNull();
  });

  test('keeps to the config of the project and to the settings of the editor, as they change', async () => {
    const client = await Client.start(
      { 'a.py': '', 'gen/b.py': '', 'memfix.toml': 'exclude = ["gen"]\n' },
      { initializationOptions: { ignore: ['drop-hold'] } },
    );
    expect(await client.open('a.py', 'hold()\nrisk()\n')).toMatchObject([{ code: 'calm-risk' }]);
    const uri = client.uri('a.py');
    await client.connection.sendNotification('workspace/didChangeConfiguration', {
      settings: { memfix: {} },
    });
    expect(await client.diagnostics(uri)).toHaveLength(2);
    put(client.cwd, { 'memfix.toml': 'ignore = ["calm-risk"]\n' });
    await client.connection.sendNotification('workspace/didChangeWatchedFiles', { changes: [] });
    expect(await client.diagnostics(uri)).toMatchObject([{ code: 'drop-hold' }]);
    put(client.cwd, { 'memfix.toml': 'ignroe = []\n' });
    await client.connection.sendNotification('textDocument/didSave', { textDocument: { uri } });
    while (client.errors.length === 0) await new Promise((resume) => setTimeout(resume, 20));
    expect(client.errors[0]).toContain('ignroe');
  });

  test('answers a question that was taken back with that, and the next one as ever', async () => {
    const client = await Client.start({ 'a.py': '' });
    const uri = client.uri('a.py');
    const [found] = await client.open('a.py', 'hold()\n');
    const range = found?.range as Range;
    const hover = () =>
      client.connection.sendRequest('textDocument/hover', {
        textDocument: { uri },
        position: range.start,
      });
    const context = { diagnostics: [] };
    for (const [id, method, more] of [
      [1001, 'textDocument/hover', { position: range.start }],
      [1002, 'textDocument/codeAction', { range, context }],
    ] as const) {
      const answer = await client.takenBack(id, method, { textDocument: { uri }, ...more });
      expect(answer).toMatchObject({ id, error: { code: LSPErrorCodes.RequestCancelled } });
    }
    expect(JSON.stringify(await hover())).toContain('hold costs memory');
    expect(await client.actions(uri, range)).not.toEqual([]);
  });

  test('looks at the cells of a notebook as one program', async () => {
    const client = await Client.start({ 'a.ipynb': '{}' });
    const notebook = client.uri('a.ipynb');
    const cell = (id: number, kind: number) => ({ kind, document: `vscode-notebook-cell:a#${id}` });
    const text = (id: number, languageId: string, content: string) => ({
      uri: `vscode-notebook-cell:a#${id}`,
      languageId,
      version: 1,
      text: content,
    });
    await client.connection.sendNotification('notebookDocument/didOpen', {
      notebookDocument: {
        uri: notebook,
        notebookType: 'jupyter-notebook',
        version: 1,
        cells: [cell(1, 2), cell(2, 2)],
      },
      cellTextDocuments: [text(1, 'python', '!ls\nx = 1'), text(2, 'python', '%time\n"🙂"; hold()')],
    });
    const uri = 'vscode-notebook-cell:a#2';
    expect(await client.diagnostics('vscode-notebook-cell:a#1')).toEqual([]);
    const [found] = await client.diagnostics(uri);
    expect(found).toMatchObject({ range: { start: { line: 1, character: 6 } }, code: 'drop-hold' });
    const [action] = await client.actions(uri, found?.range as Range);
    expect(await client.after(action, uri, '%time\n"🙂"; hold()')).toBe('%time\n"🙂"; release()');
  });
});
