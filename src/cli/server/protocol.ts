import { Writable } from 'node:stream';
import type { _Connection, NotebookDocuments, TextDocuments } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { Io } from '../io.js';

export type {
  CancellationToken,
  CodeAction,
  CodeActionParams,
  Diagnostic,
  Hover,
  InitializeParams,
  InitializeResult,
  Position,
  Range,
  TextEdit,
  WorkspaceEdit,
} from 'vscode-languageserver';

/** What the editor has open, kept up to date. */
export interface Wire {
  readonly connection: _Connection;
  readonly documents: TextDocuments<TextDocument>;
  readonly notebooks: NotebookDocuments<TextDocument>;
  /** The answer to a question about a text that has changed since. */
  outdated(): Error;
  /** The answer to a question that nobody waits for any more. */
  cancelled(): Error;
}

/** The Language Server Protocol on standard input and output. */
export async function connect({ stdin, stdout }: Pick<Io, 'stdin' | 'stdout'>): Promise<Wire> {
  const vendor = await import('vscode-languageserver/node');
  const { TextDocument } = await import('vscode-languageserver-textdocument');
  const outlet = new Writable({
    write: (chunk: Buffer, _, done) => {
      stdout.write(chunk);
      done();
    },
  });
  const connection = vendor.createConnection(
    vendor.ProposedFeatures.all,
    new vendor.StreamMessageReader(stdin),
    new vendor.StreamMessageWriter(outlet),
  );
  const documents = new vendor.TextDocuments(TextDocument);
  const notebooks = new vendor.NotebookDocuments(TextDocument);
  const outdated = () =>
    new vendor.ResponseError(vendor.LSPErrorCodes.ContentModified, 'the text has changed since');
  const cancelled = () =>
    new vendor.ResponseError(vendor.LSPErrorCodes.RequestCancelled, 'nobody waits for it any more');
  return { connection, documents, notebooks, outdated, cancelled };
}
