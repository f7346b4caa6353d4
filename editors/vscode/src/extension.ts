import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commands, type ExtensionContext, window, workspace } from 'vscode';
import { LanguageClient, type LanguageClientOptions } from 'vscode-languageclient/node';

/** Where an environment of a folder has its programs. */
const PLACES =
  process.platform === 'win32'
    ? ['.venv\\Scripts\\memfix.exe', 'venv\\Scripts\\memfix.exe', 'node_modules\\.bin\\memfix.cmd']
    : ['.venv/bin/memfix', 'venv/bin/memfix', 'node_modules/.bin/memfix'];

let client: LanguageClient | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  context.subscriptions.push(
    commands.registerCommand('memfix.restart', restart),
    workspace.onDidGrantWorkspaceTrust(restart),
    workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration('memfix.command')) await restart();
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function restart(): Promise<void> {
  await client?.stop();
  await start();
}

async function start(): Promise<void> {
  const [program = 'memfix', ...words] = command();
  const options: LanguageClientOptions = {
    documentSelector: [
      { scheme: 'file', language: 'python' },
      { notebook: 'jupyter-notebook', language: 'python' },
    ],
    initializationOptions: settings(),
    middleware: {
      workspace: {
        configuration: (params) =>
          params.items.map(({ section }) => (section === 'memfix' ? settings() : null)),
      },
    },
    synchronize: {
      configurationSection: 'memfix',
      fileEvents: workspace.createFileSystemWatcher(
        '**/{*.py,memfix.toml,pyproject.toml,requirements*.txt,uv.lock}',
      ),
    },
  };
  const args = [...words, 'server'];
  // Node starts scripts for the command prompt only through a shell.
  const shell = program.endsWith('.cmd');
  client = new LanguageClient('memfix', 'memfix', { command: program, args, options: { shell } }, options);
  try {
    await client.start();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const next = 'Install it with `pip install memfix`, or set `memfix.command`.';
    void window.showErrorMessage(`memfix could not be started (${program}: ${reason}). ${next}`);
  }
}

/** The words of the setting; else a program of the first folder, if that is trusted; else the one on PATH. */
function command(): readonly string[] {
  const set = workspace.getConfiguration('memfix').get<readonly string[]>('command') ?? [];
  if (set.length > 0) return set;
  const folders = workspace.isTrusted ? (workspace.workspaceFolders ?? []) : [];
  const found = folders
    .flatMap(({ uri }) => PLACES.map((place) => join(uri.fsPath, place)))
    .find((path) => existsSync(path));
  return [found ?? 'memfix'];
}

function settings(): object {
  const memfix = workspace.getConfiguration('memfix');
  const of = (name: string) => memfix.get<unknown>(name);
  return {
    select: of('select'),
    extendSelect: of('extendSelect'),
    ignore: of('ignore'),
    config: of('config'),
    strictConfig: !workspace.isTrusted,
  };
}
