import { resolve } from 'node:path';
import type { Diagnosis, Evidence } from '../oom/diagnosis.js';
import type { CheckedFiles } from '../oom/places.js';
import { shellWord } from '../report/prose.js';
import type { Report } from '../report/report.js';
import type { PyModule } from '../semantic/module.js';
import { isNotebookName } from '../text/notebook/notebook.js';
import { outputsIn } from '../text/notebook/outputs.js';
import { textOf } from '../workspace/bounded.js';
import type { Logged } from '../workspace/dependencies.js';
import { Failure } from '../workspace/failure.js';
import type { Project } from '../workspace/project.js';
import type { Context } from './context.js';

const READ = new WeakMap<Context, Promise<Evidence | undefined>>();

/** What the log and the snapshot of `--oom` and `--snapshot` tell; undefined where neither is given. Each is read once. */
export function evidenceOf(context: Context): Promise<Evidence | undefined> {
  let read = READ.get(context);
  if (read === undefined) {
    read = readEvidence(context);
    READ.set(context, read);
  }
  return read;
}

async function readEvidence(context: Context): Promise<Evidence | undefined> {
  const { args } = context;
  const log = args.text('oom');
  if (args.each('oom').length > 1)
    throw args.misuse('`--oom` takes one log: put several together, `cat a.log b.log | memfix --oom -`.');
  const snapshot = args.text('snapshot');
  if (log === undefined && snapshot === undefined) return undefined;
  if (args.isLogPiped && args.readsStdin)
    throw args.misuse('Standard input is either the code or the log: `-` can stand for one of them.');
  return {
    ...(log !== undefined && { log: await readLog(context, log) }),
    ...(snapshot !== undefined && { snapshot: await readSnapshot(context, snapshot) }),
  };
}

/** What the words of the log say about the torch that wrote it. */
export async function loggedIn(context: Context): Promise<Logged | undefined> {
  const evidence = await evidenceOf(context);
  const { torchOf } = await import('../oom/message.js');
  for (const { message } of evidence?.log?.outOfMemory ?? []) {
    const versions = torchOf(message);
    if (versions !== undefined) return { ...versions, source: evidence?.log?.name ?? '' };
  }
  return undefined;
}

async function readLog({ io }: Context, path: string): Promise<NonNullable<Evidence['log']>> {
  const { eachLine, openLog } = await import('../workspace/log.js');
  const { LogReader } = await import('../oom/log.js');
  const name = path === '-' ? 'standard input' : path;
  const reader = new LogReader();
  const outputs = isNotebookName(path) ? outputsIn(textOf(resolve(io.cwd, path)) ?? '') : undefined;
  if (outputs === undefined) {
    const input = path === '-' ? io.stdin : openLog(resolve(io.cwd, path));
    if (path === '-' && io.stdin.isTTY === true)
      io.stderr.write('Paste the output of the run, then press Enter and Ctrl-D.\n');
    await eachLine(input, name, io.signal, (line, number) => reader.read(line, number));
  } else for (const { cell, line } of outputs) reader.read(line, cell);
  const outOfMemory = reader.end();
  if (outOfMemory.length === 0 && COMPRESSED.test(path))
    throw new Failure(
      'The log is compressed',
      `${name} was read as it is`,
      `Unpack it on the way: \`zcat ${shellWord(path)} | memfix --oom -\`, or with what packed it.`,
    );
  if (outOfMemory.length > 0)
    return { name, outOfMemory, isNotebook: outputs !== undefined, parameters: reader.parameters };
  if (/\.(?:pickle|pkl)$/i.test(path))
    throw new Failure(
      'Not a log',
      `${name} is a snapshot of memory by its name, and holds no out-of-memory error as text`,
      `Give it as what it is: \`memfix check --snapshot ${shellWord(path)}\`; the log of the run goes to \`--oom\`.`,
    );
  throw new Failure(
    'Nothing ran out of memory',
    `${name} holds no out-of-memory error of PyTorch, neither of a GPU nor of the host`,
    'Give `--oom` the output of the run that failed, standard error included; without it, `memfix check` reports all findings.',
  );
}

const COMPRESSED = /\.(?:gz|bz2|xz|zst|zip)$/i;

async function readSnapshot({ io }: Context, path: string): Promise<NonNullable<Evidence['snapshot']>> {
  const snapshots = await import('../workspace/snapshot.js');
  return { name: path, content: await snapshots.readSnapshot(resolve(io.cwd, path), path, io.signal) };
}

/** The report in the light of the evidence. */
export async function withDiagnosis(
  report: Report,
  evidence: Evidence | undefined,
  files: CheckedFiles,
  project: Project,
): Promise<Report> {
  if (evidence === undefined) return report;
  const { diagnose, startedScript } = await import('../oom/diagnosis.js');
  const { loadParser } = await import('../syntax/parser.js');
  const modules = await import('../semantic/module.js');
  const parser = await loadParser();
  const parsed = new Map<string, { readonly module: PyModule; readonly dispose: () => void } | undefined>();
  const moduleOf = (name: string) => {
    if (!parsed.has(name)) {
      const text = files.text(name);
      const tree = text === undefined ? undefined : parser.parse(text);
      parsed.set(
        name,
        text === undefined || tree === undefined
          ? undefined
          : { module: new modules.PyModule(name, text, tree), dispose: () => tree.dispose() },
      );
    }
    return parsed.get(name)?.module;
  };
  try {
    const told = (known: Evidence): Diagnosis =>
      diagnose(known, { ...files, module: moduleOf }, report.scans, (id) => project.vocabulary.meta(id));
    const oom = told(evidence);
    const script = startedScript(oom.errors);
    const text = script === undefined ? undefined : files.text(script);
    if (script === undefined || text === undefined) return { ...report, oom };
    const { budgetFor } = await import('./budget-runs.js');
    const { budget, parameters } = await budgetFor(project, script, text);
    const known = parameters === undefined ? oom : told({ ...evidence, parameters });
    return { ...report, oom: { ...known, budget } };
  } finally {
    for (const each of parsed.values()) each?.dispose();
  }
}
