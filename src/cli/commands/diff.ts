import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { Outcome } from '../../engine/outcome.js';
import { countByEffect, effectPhrase } from '../../report/effects.js';
import { noColor } from '../../report/paint.js';
import { type FileChange, patchForEyes, patchOf } from '../../report/patch.js';
import { assumedBy, assumptionSentences } from '../../report/premises.js';
import { command, plural } from '../../report/prose.js';
import type { Proven } from '../../report/prove/proven.js';
import { askedTogether } from '../../report/questions.js';
import type { Report } from '../../report/report.js';
import { nothingSeen } from '../../report/summary.js';
import { lineText } from '../../text/place.js';
import { appliedIn, changesOf, excludedIn, filesIn, isChanged } from '../../workspace/changes.js';
import { Failure } from '../../workspace/failure.js';
import { objectionTo } from '../../workspace/git.js';
import { patchRoot } from '../../workspace/patch-root.js';
import { isInside, slashed } from '../../workspace/places.js';
import { type Context, EXIT } from '../context.js';
import { prepare, prepareStdin } from '../looking.js';
import { waitingIn } from '../proposal.js';
import { provenOf } from '../proven.js';
import { strictness, withWishes } from '../results.js';
import { decided, sayDiagnosis, sayNextSteps, settle, withoutBeside } from '../settling.js';

export async function diff(context: Context): Promise<number> {
  if (context.args.readsStdin) return diffStdin(context);
  const look = await prepare(context);
  const { seen, outcomes: settled, oom } = await settle(context, look);
  const { outcomes, proven = await provenOf(context, look) } = await decided(context, look, settled);
  const changed = outcomes.filter(isChanged);
  const { cwd } = context.io;
  const changes = changed.flatMap((outcome) => {
    const [own, ...beside] = changesOf(cwd, look, outcome);
    return own === undefined ? [] : [{ ...own, comments: commentsOn(outcome, proven) }, ...beside];
  });
  const targets = changes.map(({ target }) => target);
  const root = changed.length === 0 ? cwd : patchRoot(targets, cwd);
  const named = changes.map(({ target, ...change }) => ({
    ...change,
    path: slashed(relative(root, target)),
  }));
  const patch = patchOf(named, proven?.summary);
  prove(patch, root);
  const shown = isRead(context) ? patchForEyes(named, proven?.summary) : patch;
  // What is noted stands in the files as they are.
  const report = {
    scans: seen.scans,
    skipped: seen.skipped,
    checked: seen.files,
    ...(oom && { oom }),
  };
  const bugs = outcomes.flatMap((outcome) => outcome.bugs);
  const code = await conclude(context, shown, changed, report, waitingIn(outcomes));
  if (changed.length > 0 && root !== context.io.cwd) context.say(`Paths are relative to ${root}.`);
  context.confess(seen.crashes, bugs);
  return seen.crashes.length + bugs.length > 0 ? EXIT.error : code;
}

async function diffStdin(context: Context): Promise<number> {
  const { io } = context;
  const { engine, read, project } = await prepareStdin(context);
  const outcome =
    read.kind === 'file' ? await engine.repair(read.file, withoutBeside(await project.policy())) : read;
  if (outcome.kind === 'skipped') {
    return conclude(context, Buffer.alloc(0), [], { scans: [], skipped: [outcome], checked: 1 }, 0);
  }
  const changed = [outcome].filter(isChanged);
  const target = resolve(io.cwd, outcome.file.path);
  const root = patchRoot([target], io.cwd);
  const name = isInside(target, root) ? slashed(relative(root, target)) : outcome.file.path;
  const named = changed.map((change) => changeOf(change, name));
  const patch = isRead(context) ? patchForEyes(named) : patchOf(named);
  const report = { scans: [outcome.remaining], skipped: [], checked: 1 };
  const code = await conclude(context, patch, changed, report, waitingIn([outcome]));
  context.confess([], outcome.bugs);
  return outcome.bugs.length > 0 ? EXIT.error : code;
}

/** What a person has to answer for the fixes in a file, or has, and what was measured for them. */
function commentsOn(outcome: Outcome, proven: Proven | undefined): readonly string[] {
  const applied = appliedIn(outcome);
  const asked = applied.flatMap(({ transform, at, questions, assumed = [] }) => [
    ...askedTogether(questions, outcome.file.path).map(
      (text) => `${transform}, ${lineText(at)}, is right if yes: ${text}`,
    ),
    ...assumed.map(({ text }) => `${transform}, ${lineText(at)}, assumed: ${text}`),
  ]);
  const ids = new Set(applied.map(({ transform }) => transform));
  if (proven === undefined) return asked;
  const shown = applied.flatMap((finding) => {
    const standing = proven.standing(outcome.file.path, finding);
    return standing === undefined
      ? []
      : [`${finding.transform}, ${lineText(finding.at)}, ${standing.label}${standing.words}`];
  });
  const measured = [...ids].flatMap((id) => {
    const words = proven.measured(id) ?? (shown.length > 0 ? undefined : 'not measured');
    return words === undefined ? [] : [`${id}: ${words}`];
  });
  return [...asked, ...shown, ...measured];
}

function changeOf(outcome: Outcome, path: string): FileChange {
  const { file, after } = outcome;
  return { path, source: file.source, after, comments: commentsOn(outcome, undefined) };
}

async function conclude(
  context: Context,
  patch: Buffer,
  changed: readonly Outcome[],
  report: Report,
  waiting: number,
): Promise<number> {
  const shown = presented(patch, context);
  if (typeof shown === 'string') await context.show(shown);
  else context.out(shown);
  context.remark(report);
  const fixes = changed.flatMap(appliedIn);
  for (const sentence of changed.flatMap(excludedIn)) context.say(sentence);
  if (report.oom !== undefined) await sayDiagnosis(context, report.oom, false);
  for (const sentence of assumptionSentences(assumedBy(fixes))) context.say(sentence);
  if (changed.length === 0 && waiting === 0)
    context.say(report.checked === 0 ? `${nothingSeen(withWishes(context, report))}.` : 'Nothing to change.');
  else if (changed.length === 0)
    context.say(`Nothing to change without an answer. ${openSentence(waiting, context)}`);
  else {
    const effects = fixes.length === 0 ? '' : `: ${effectPhrase(countByEffect(fixes))}`;
    const open = waiting === 0 ? '' : ` ${openSentence(waiting, context)}`;
    context.say(
      `${plural(fixes.length, 'fix', 'fixes')} in ${plural(filesIn(changed), 'file')}${effects}.${open}`,
    );
  }
  if (report.oom !== undefined && changed.length === 0) await sayNextSteps(context, report.oom);
  const found = context.args.flag('exit-code') && patch.length > 0 ? EXIT.findings : EXIT.clean;
  return Math.max(found, strictness(context, report));
}

/** Unsafe fixes that are not in the patch, and how to see them. */
function openSentence(waiting: number, { args }: Context): string {
  const them = waiting === 1 ? 'it' : 'them';
  const asks = args.readsStdin ? '' : `, ${command('apply -i', args.aim)} asks about ${them}`;
  return `${plural(waiting, 'fix', 'fixes')} ${waiting === 1 ? 'is' : 'are'} unsafe: ${command('diff --unsafe-fixes', args.aim)} shows ${them}${asks}.`;
}

/** A patch that git does not take is our bug: better no patch than a wrong one. */
function prove(patch: Buffer, root: string): void {
  if (patch.length === 0 || !existsSync(root)) return;
  const objection = objectionTo(patch, root);
  if (objection === undefined) return;
  throw new Failure(
    'The patch does not apply',
    `\`git apply --check\` in ${root} says:\n${objection}`,
    'Run it again if files changed meanwhile; otherwise please report this. No patch was printed.',
  );
}

/** Whether a person looks at the output. */
function isRead({ args, io }: Context): boolean {
  return args.color === 'always' || (args.text('output') === undefined && io.stdout.isTTY === true);
}

/** Bytes as they are for a program, whatever FORCE_COLOR says; for eyes, colours and the door need characters. */
function presented(patch: Buffer, context: Context): Buffer | string {
  const { paint } = context.view;
  if (!isRead(context) || paint === noColor) return patch;
  const painted = patch
    .toString()
    .split('\n')
    .map((line) => {
      if (/^(?:diff|---|\+\+\+) /.test(line)) return paint.bold(line);
      if (line.startsWith('@@')) return paint.cyan(line);
      return line.startsWith('+') ? paint.green(line) : line.startsWith('-') ? paint.red(line) : line;
    });
  return painted.join('\n');
}
