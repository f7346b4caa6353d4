import { resolve } from 'node:path';
import type { Diagnosis, Evidence } from '../oom/diagnosis.js';
import type { CheckedFiles } from '../oom/places.js';
import { shellWord } from '../report/prose.js';
import type { Report } from '../report/report.js';
import { isNotebookName } from '../text/notebook/notebook.js';
import { outputsIn } from '../text/notebook/outputs.js';
import { textOf } from '../workspace/bounded.js';
import { Failure } from '../workspace/failure.js';
import type { Project } from '../workspace/project.js';
import type { Context } from './context.js';

/** What the log and the snapshot of `--oom` and `--snapshot` tell; undefined where neither is given. */
export async function evidenceOf(context: Context): Promise<Evidence | undefined> {
  const { args } = context;
  const log = args.text('oom');
  const snapshot = args.text('snapshot');
  if (log === undefined && snapshot === undefined) return undefined;
  if (log === '-' && args.readsStdin)
    throw args.misuse('Standard input is either the code or the log: `-` can stand for one of them.');
  return {
    ...(log !== undefined && { log: await readLog(context, log) }),
    ...(snapshot !== undefined && { snapshot: await readSnapshot(context, snapshot) }),
  };
}

async function readLog({ io }: Context, path: string): Promise<NonNullable<Evidence['log']>> {
  const { eachLine, openLog } = await import('../workspace/log.js');
  const { LogReader } = await import('../oom/log.js');
  const name = path === '-' ? 'standard input' : path;
  const reader = new LogReader();
  const outputs = isNotebookName(path) ? outputsIn(textOf(resolve(io.cwd, path)) ?? '') : undefined;
  if (outputs === undefined) {
    const input = path === '-' ? io.stdin : openLog(resolve(io.cwd, path));
    await eachLine(input, name, io.signal, (line, number) => reader.read(line, number));
  } else for (const { cell, line } of outputs) reader.read(line, cell);
  const outOfMemory = reader.end();
  if (outOfMemory.length === 0 && COMPRESSED.test(path))
    throw new Failure(
      'The log is compressed',
      `${name} was read as it is`,
      `Unpack it on the way: \`zcat ${shellWord(path)} | memfix --oom -\`, or with what packed it.`,
    );
  if (outOfMemory.length > 0) return { name, outOfMemory, isNotebook: outputs !== undefined };
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
  const { diagnose } = await import('../oom/diagnosis.js');
  const oom: Diagnosis = diagnose(evidence, files, report.scans, (id) => project.vocabulary.meta(id));
  return { ...report, oom };
}
