import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect } from 'vitest';
import {
  type CodeAction,
  createProtocolConnection,
  type Diagnostic,
  type ProtocolConnection,
  type PublishDiagnosticsParams,
  type Range,
  StreamMessageReader,
  StreamMessageWriter,
  type TextEdit,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { repositoryWith } from '../workspace/folders.js';

/** The server in a process of its own, spoken to by the client of the protocol's own library. */
export class Client {
  readonly #published: PublishDiagnosticsParams[] = [];
  readonly errors: string[] = [];
  #news: () => void = () => undefined;

  private constructor(
    readonly cwd: string,
    readonly connection: ProtocolConnection,
    readonly ended: Promise<number | null>,
    private readonly child: ChildProcessWithoutNullStreams,
  ) {
    connection.onNotification('textDocument/publishDiagnostics', (params: PublishDiagnosticsParams) => {
      this.#published.push(params);
      this.#news();
    });
    connection.onNotification('window/showMessage', ({ message }: { message: string }) => {
      this.errors.push(message);
      this.#news();
    });
  }

  static async start(
    files: Readonly<Record<string, string>>,
    how: object = {},
    before: (connection: ProtocolConnection) => void = () => {},
  ): Promise<Client> {
    const cwd = repositoryWith(files);
    const main = join(import.meta.dirname, '..', 'cli', 'toy-main.ts');
    const child = spawn(
      process.execPath,
      ['--import', import.meta.resolve('tsx'), main, 'server', '--stdio'],
      {
        cwd,
      },
    );
    const connection = createProtocolConnection(
      new StreamMessageReader(child.stdout),
      new StreamMessageWriter(child.stdin),
    );
    const ended = new Promise<number | null>((done) => child.on('exit', done));
    const client = new Client(cwd, connection, ended, child);
    before(connection);
    connection.listen();
    await connection.sendRequest('initialize', {
      processId: process.pid,
      rootUri: pathToFileURL(cwd).href,
      workspaceFolders: [{ uri: pathToFileURL(cwd).href, name: 'it' }],
      capabilities: {
        textDocument: { codeAction: { resolveSupport: { properties: ['edit'] } } },
        workspace: { workspaceEdit: { documentChanges: true } },
      },
      ...how,
    });
    await connection.sendNotification('initialized', {});
    running.push(client);
    return client;
  }

  uri(name: string): string {
    return pathToFileURL(join(this.cwd, name)).href;
  }

  async open(name: string, text: string): Promise<readonly Diagnostic[]> {
    await this.connection.sendNotification('textDocument/didOpen', {
      textDocument: { uri: this.uri(name), languageId: 'python', version: 1, text },
    });
    return this.diagnostics(this.uri(name), 1);
  }

  async change(name: string, version: number, text: string): Promise<void> {
    await this.connection.sendNotification('textDocument/didChange', {
      textDocument: { uri: this.uri(name), version },
      contentChanges: [{ text }],
    });
  }

  /** The first ones that are told of this version from now on. */
  async diagnostics(uri: string, version?: number): Promise<readonly Diagnostic[]> {
    for (;;) {
      const at = this.#published.findIndex(
        (each) => each.uri === uri && (version === undefined || each.version === version),
      );
      const found = at === -1 ? undefined : this.#published.splice(0, at + 1).at(-1);
      if (found !== undefined) return found.diagnostics;
      await new Promise<void>((resume) => {
        this.#news = resume;
      });
    }
  }

  async actions(uri: string, range: Range, only?: readonly string[]): Promise<readonly CodeAction[]> {
    const context = { diagnostics: [], ...(only && { only }) };
    return this.connection.sendRequest('textDocument/codeAction', { textDocument: { uri }, range, context });
  }

  /** What a text becomes by an action. */
  async after(action: CodeAction | undefined, uri: string, text: string): Promise<string> {
    const resolved: CodeAction = await this.connection.sendRequest('codeAction/resolve', action);
    const changes = resolved.edit?.documentChanges ?? [];
    const edits = changes.flatMap((each) =>
      'textDocument' in each && each.textDocument.uri === uri ? (each.edits as TextEdit[]) : [],
    );
    return TextDocument.applyEdits(TextDocument.create(uri, 'python', 0, text), edits);
  }

  /** The answer to a question that comes in one piece with its cancellation. */
  async takenBack(id: number, method: string, params: object): Promise<unknown> {
    let said = '';
    const found = new Promise<unknown>((done) => {
      const hear = (data: Buffer) => {
        said += data.toString('utf8');
        const answer = said.split(/Content-Length: \d+\r\n\r\n/).find((each) => each.includes(`"id":${id},`));
        if (answer === undefined || !answer.endsWith('}')) return;
        this.child.stdout.off('data', hear);
        done(JSON.parse(answer));
      };
      this.child.stdout.on('data', hear);
    });
    const messages = [
      { id, method, params },
      { method: '$/cancelRequest', params: { id } },
    ].map((each) => JSON.stringify({ jsonrpc: '2.0', ...each }));
    this.child.stdin.write(messages.map((each) => `Content-Length: ${each.length}\r\n\r\n${each}`).join(''));
    return found;
  }

  async stop(): Promise<number | null> {
    await this.connection.sendRequest('shutdown');
    await this.connection.sendNotification('exit');
    const code = await this.ended;
    this.connection.dispose();
    return code;
  }
}

const running: Client[] = [];
afterEach(async () => {
  for (const client of running.splice(0)) expect(await client.stop()).toBe(0);
});
