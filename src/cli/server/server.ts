import { isAbsolute } from 'node:path';
import { Failure } from '../../workspace/failure.js';
import { interpret } from '../../workspace/read.js';
import type { Context } from '../context.js';
import { ownVersion } from '../package.js';
import { type Deed, editFor, FIX_ALL, offersAt } from './actions.js';
import {
  type CancellationToken,
  type CodeAction,
  type CodeActionParams,
  connect,
  type Hover,
  type InitializeParams,
  type InitializeResult,
  type Position,
  type Wire,
} from './protocol.js';
import { Seen, versionOf } from './seen.js';
import { type OpenText, overlaps, type Sheet, sheetOfCells, sheetOfFile } from './sheet.js';
import { diagnosticOf, hoverText } from './words.js';
import { Workspaces } from './workspaces.js';

/** Milliseconds without a key before a text is looked at. */
const PAUSE = 120;

/** Speaks the Language Server Protocol until the editor hangs up. */
export async function serve(context: Context): Promise<void> {
  const relative = context.args.each('plugin').find((name) => !isAbsolute(name));
  if (relative !== undefined)
    throw context.args.misuse(
      `\`--plugin ${relative}\` would be another file in each folder that you open: give its whole path.`,
    );
  const wire = await connect(context.io);
  const told = new Set<string>();
  const tell = (words: string) => {
    if (told.has(words)) return;
    told.add(words);
    void wire.connection.sendNotification('window/showMessage', { type: 2, message: `memfix: ${words}` });
  };
  await new Server(wire, new Workspaces(context, tell)).run(context.io.signal);
}

/** What an action carries until it is chosen. */
interface Ticket {
  readonly subject: string;
  readonly version: string;
  readonly deed: Deed;
}

class Server {
  /** By the file or the notebook that they are about. */
  readonly #seen = new Map<string, Seen>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #resolvesEdits = false;
  #versionsEdits = false;
  #asksForSettings = false;
  #watches = false;
  #complaint = '';

  constructor(
    private readonly wire: Wire,
    private readonly spaces: Workspaces,
  ) {}

  run(signal: AbortSignal): Promise<void> {
    const { connection, documents, notebooks } = this.wire;
    connection.onInitialize((params) => this.#initialize(params));
    connection.onInitialized(() => {
      void this.#readSettings(undefined);
      if (this.#watches) void this.#watch();
    });
    connection.onDidChangeConfiguration(({ settings }) => this.#readSettings(settings));
    connection.onDidChangeWatchedFiles(() => this.#afresh());
    connection.onCodeAction((params, token) => this.#actions(params, token));
    connection.onCodeActionResolve((action, token) => this.#resolved(action, token));
    connection.onHover(({ textDocument, position }, token) => this.#hover(textDocument.uri, position, token));
    documents.onDidOpen(({ document }) => this.#soon(this.#subjectOf(document.uri), 0));
    documents.onDidChangeContent(({ document }) => this.#soon(this.#subjectOf(document.uri), PAUSE));
    documents.onDidSave(() => this.#afresh());
    documents.onDidClose(({ document }) => this.#close(document.uri, [document.uri]));
    notebooks.onDidOpen(({ uri }) => this.#soon(uri, 0));
    notebooks.onDidChange(({ notebookDocument }) => this.#soon(notebookDocument.uri, PAUSE));
    notebooks.onDidSave(() => this.#afresh());
    notebooks.onDidClose(({ uri, cells }) =>
      this.#close(
        uri,
        cells.map(({ document }) => document),
      ),
    );
    documents.listen(connection);
    notebooks.listen(connection);
    return new Promise((done) => {
      connection.onExit(done);
      connection.onShutdown(() => {
        for (const timer of this.#timers.values()) clearTimeout(timer);
      });
      signal.addEventListener('abort', () => done());
      connection.listen();
    });
  }

  #initialize({
    capabilities,
    workspaceFolders,
    rootUri,
    initializationOptions,
  }: InitializeParams): InitializeResult {
    const { textDocument, workspace } = capabilities;
    this.#resolvesEdits = textDocument?.codeAction?.resolveSupport?.properties.includes('edit') === true;
    this.#versionsEdits = workspace?.workspaceEdit?.documentChanges === true;
    this.#asksForSettings = workspace?.configuration === true;
    this.#watches = workspace?.didChangeWatchedFiles?.dynamicRegistration === true;
    const folders = workspaceFolders?.map(({ uri }) => uri) ?? (rootUri ? [rootUri] : []);
    this.spaces.begin(folders);
    this.spaces.set(initializationOptions);
    return {
      serverInfo: { name: 'memfix', version: ownVersion() },
      capabilities: {
        textDocumentSync: { openClose: true, change: 2, save: true },
        notebookDocumentSync: {
          notebookSelector: [{ notebook: 'jupyter-notebook', cells: [{ language: 'python' }] }],
          save: true,
        },
        codeActionProvider: { codeActionKinds: ['quickfix', FIX_ALL], resolveProvider: true },
        hoverProvider: true,
        workspace: { workspaceFolders: { supported: true } },
      },
    };
  }

  /** Asks to be told of configs that change: an editor that has none of them open does not say so by itself. */
  async #watch(): Promise<void> {
    const watchers = ['**/memfix.toml', '**/pyproject.toml'].map((globPattern) => ({ globPattern }));
    const method = 'workspace/didChangeWatchedFiles';
    await this.wire.connection.sendRequest('client/registerCapability', {
      registrations: [{ id: 'memfix-configs', method, registerOptions: { watchers } }],
    });
  }

  async #readSettings(pushed: unknown): Promise<void> {
    if (this.#asksForSettings)
      this.spaces.set(await this.wire.connection.workspace.getConfiguration('memfix'));
    else if (typeof pushed === 'object' && pushed !== null && 'memfix' in pushed)
      this.spaces.set(pushed.memfix);
    this.#afresh();
  }

  /** Disk or settings have changed: everything that is open is looked at again. */
  #afresh(): void {
    this.spaces.forget();
    this.#seen.clear();
    const { documents } = this.wire;
    for (const subject of new Set(documents.keys().map((uri) => this.#subjectOf(uri))))
      this.#soon(subject, 0);
    for (const cell of this.wire.notebooks.cellTextDocuments.keys()) this.#soon(this.#subjectOf(cell), 0);
  }

  /** The notebook of a cell; a file is its own subject. */
  #subjectOf(uri: string): string {
    return this.wire.notebooks.findNotebookDocumentForCell(uri)?.uri ?? uri;
  }

  #soon(subject: string, pause: number): void {
    clearTimeout(this.#timers.get(subject));
    this.#timers.set(
      subject,
      setTimeout(() => void this.#publish(subject), pause),
    );
  }

  async #publish(subject: string): Promise<void> {
    const seen = await this.#look(subject);
    if (seen === undefined || seen.version !== versionOf(this.#textsOf(subject))) return;
    for (const { uri, version } of seen.sheet.texts) {
      const diagnostics = seen.findings.flatMap((finding) => {
        const place = seen.placeOf(finding);
        return place?.open.uri === uri ? [diagnosticOf(seen.sheet.file.path, finding, place.range)] : [];
      });
      await this.wire.connection.sendDiagnostics({ uri, version, diagnostics });
    }
  }

  #close(subject: string, uris: readonly string[]): void {
    clearTimeout(this.#timers.get(subject));
    this.#timers.delete(subject);
    this.#seen.delete(subject);
    for (const uri of uris) void this.wire.connection.sendDiagnostics({ uri, diagnostics: [] });
  }

  #textsOf(subject: string): readonly OpenText[] {
    const { documents, notebooks } = this.wire;
    const notebook = notebooks.getNotebookDocument(subject);
    const cells = notebook?.cells.map(({ document }) => notebooks.cellTextDocuments.get(document));
    return (cells ?? [documents.get(subject)]).flatMap((document) =>
      document === undefined
        ? []
        : [{ uri: document.uri, version: document.version, text: document.getText() }],
    );
  }

  /** What is in the texts of a file or a notebook now; kept until one of them changes. */
  async #look(subject: string): Promise<Seen | undefined> {
    const texts = this.#textsOf(subject);
    const known = this.#seen.get(subject);
    if (known !== undefined && known.version === versionOf(texts)) return known;
    try {
      const around = await this.spaces.around(subject);
      const sheet = around && this.#sheetOf(subject, around.name, texts);
      if (around === undefined || sheet === undefined) return undefined;
      const scan = around.space.engine.scan(sheet.file);
      const seen = new Seen(sheet, around.space, scan.kind === 'scan' ? scan : undefined);
      if (versionOf(this.#textsOf(subject)) === seen.version) this.#seen.set(subject, seen);
      const [fault] = (scan.kind === 'scan' && scan.faults) || [];
      if (fault === undefined) this.#complaint = '';
      else this.#complain(`The plugin ${fault.message}`);
      return seen;
    } catch (error) {
      this.#complain(error instanceof Failure ? `${error.title}: ${error.detail}` : String(error));
      return undefined;
    }
  }

  /** For a question. One that is taken back is told before the look begins, which hears nothing. */
  async #lookFor(subject: string, token: CancellationToken): Promise<Seen | undefined> {
    await new Promise((resume) => setImmediate(resume));
    if (token.isCancellationRequested) throw this.wire.cancelled();
    return this.#look(subject);
  }

  #sheetOf(subject: string, name: string, texts: readonly OpenText[]): Sheet | undefined {
    const notebook = this.wire.notebooks.getNotebookDocument(subject);
    const [only] = texts;
    if (notebook === undefined) {
      const source = only && { text: only.text, encoding: 'utf-8', bom: false };
      return source && sheetOfFile({ path: name, source }, only);
    }
    const cells = notebook.cells.flatMap(({ kind, document }) => {
      const text = texts.find(({ uri }) => uri === document)?.text;
      const languageId = this.wire.notebooks.cellTextDocuments.get(document)?.languageId;
      const cell_type = kind === 2 ? 'code' : 'markdown';
      return text === undefined ? [] : [{ cell_type, metadata: { vscode: { languageId } }, source: text }];
    });
    const read = interpret({ path: name, explicit: false }, Buffer.from(JSON.stringify({ cells })));
    return read.kind === 'file' ? sheetOfCells(read.file, texts) : undefined;
  }

  /** The same trouble is told once. */
  #complain(reason: string): void {
    if (reason === this.#complaint) return;
    this.#complaint = reason;
    // A notification: not every editor answers a question about it.
    const message = { type: 1, message: `memfix: ${reason}` };
    void this.wire.connection.sendNotification('window/showMessage', message);
  }

  async #actions(
    { textDocument: { uri }, range, context: { only } }: CodeActionParams,
    token: CancellationToken,
  ): Promise<CodeAction[]> {
    const subject = this.#subjectOf(uri);
    const seen = await this.#lookFor(subject, token);
    if (seen === undefined) return [];
    const made: CodeAction[] = [];
    for (const { action, deed } of offersAt(seen, uri, range, only)) {
      if (token.isCancellationRequested) throw this.wire.cancelled();
      const ticket: Ticket = { subject, version: seen.version, deed };
      if (this.#resolvesEdits) made.push({ ...action, data: ticket });
      else {
        const edit = await editFor(seen, deed, this.#versionsEdits);
        if (edit !== undefined) made.push({ ...action, edit });
      }
    }
    return made;
  }

  async #resolved(action: CodeAction, token: CancellationToken): Promise<CodeAction> {
    const { subject, version, deed } = action.data as Ticket;
    const seen = await this.#lookFor(subject, token);
    if (seen === undefined || seen.version !== version) throw this.wire.outdated();
    const edit = await editFor(seen, deed, this.#versionsEdits);
    return edit === undefined ? action : { ...action, edit };
  }

  async #hover(uri: string, position: Position, token: CancellationToken): Promise<Hover | null> {
    const seen = await this.#lookFor(this.#subjectOf(uri), token);
    const here = { start: position, end: position };
    const found = (seen?.findings ?? []).flatMap((finding) => {
      const place = seen?.placeOf(finding);
      return place?.open.uri === uri && overlaps(place.range, here) ? [{ finding, range: place.range }] : [];
    });
    const [first] = found;
    if (first === undefined) return null;
    const words = found.map(({ finding }) =>
      hoverText(seen?.sheet.file.path ?? '', finding, seen?.space.metaOf(finding.transform)),
    );
    return { contents: { kind: 'markdown', value: words.join('\n\n---\n\n') }, range: first.range };
  }
}
