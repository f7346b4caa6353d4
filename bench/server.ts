/** `npx tsx bench/server.ts [--lines N | --file FILE] [--rounds N] [--cli FILE]`: how soon `memfix server` answers after a key. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import {
  createProtocolConnection,
  type ProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '1000' },
    file: { type: 'string' },
    rounds: { type: 'string', default: '40' },
    cli: { type: 'string', default: join(root, 'dist', 'cli.js') },
  },
});
const rounds = Number(values.rounds);
/** Rounds before it counts. */
const WARM = 10;

const folder = mkdtempSync(join(tmpdir(), 'memfix-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const text = values.file === undefined ? program(Number(values.lines)) : readFileSync(values.file, 'utf8');
const file = join(folder, 'train.py');
writeFileSync(file, text);
const uri = pathToFileURL(file).href;

const child = spawn(process.execPath, [values.cli, 'server'], { cwd: folder });
const connection = createProtocolConnection(
  new StreamMessageReader(child.stdout),
  new StreamMessageWriter(child.stdin),
);
connection.listen();
await connection.sendRequest('initialize', {
  processId: process.pid,
  rootUri: pathToFileURL(folder).href,
  // As editors of today do: what an action changes is asked for when somebody picks it.
  capabilities: {
    textDocument: { codeAction: { dataSupport: true, resolveSupport: { properties: ['edit'] } } },
  },
});
await connection.sendNotification('initialized', {});
await connection.sendNotification('textDocument/didOpen', {
  textDocument: { uri, languageId: 'python', version: 1, text },
});
const range = { start: { line: 0, character: 0 }, end: { line: text.split('\n').length, character: 0 } };
const hover = await timed(connection, 'textDocument/hover', { position: { line: 5, character: 4 } });
const actions = await timed(connection, 'textDocument/codeAction', { range, context: { diagnostics: [] } });
process.stdout.write(
  `${text.split('\n').length - 1} lines, ${rounds} edits each after ${WARM}, load ${loadavg()[0]?.toFixed(1)}\n` +
    '| milliseconds from an edit to the answer | median | 95 % | longest |\n|---|---|---|---|\n' +
    `${row('hover', hover)}${row('code actions', actions)}`,
);
await connection.sendRequest('shutdown');
await connection.sendNotification('exit');
connection.dispose();

/** Each round changes the text, so that all of it is looked at again. */
async function timed(wire: ProtocolConnection, method: string, question: object): Promise<readonly number[]> {
  const times: number[] = [];
  for (let round = 0; round < WARM + rounds; round++) {
    const version = Date.now() + round;
    const began = performance.now();
    const contentChanges = [{ text: `${text}# ${round}\n` }];
    await wire.sendNotification('textDocument/didChange', { textDocument: { uri, version }, contentChanges });
    await wire.sendRequest(method, { textDocument: { uri }, ...question });
    if (round >= WARM) times.push(performance.now() - began);
  }
  return times.sort((a, b) => a - b);
}

function row(what: string, times: readonly number[]): string {
  const at = (share: number) =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))]?.toFixed(0);
  return `| ${what} | ${at(0.5)} | ${at(0.95)} | ${at(1)} |\n`;
}

/** Training code with something to find in every screen of it: the fixtures of `no-grad`, one after the other. */
function program(lines: number): string {
  const place = join(root, 'fixtures', 'no-grad');
  let made = '';
  for (const name of readdirSync(place).sort()) {
    const next = readFileSync(join(place, name, 'input.py'), 'utf8');
    if (/\r|__future__|import \*/.test(next)) continue;
    made += `${next}\n\n`;
    if (made.split('\n').length > lines) break;
  }
  return `${made.split('\n').slice(0, lines).join('\n')}\n`.replace(/\n[ \t].*\n$/, '\n');
}
