import { afterwardsOf } from '../report/applied.js';
import { plural } from '../report/prose.js';
import { ERASE_LINE } from '../report/terminal.js';
import type { Review } from './keys.js';
import { boldText, type Look, listText, noteText } from './screen.js';
import type { ReviewedFiles } from './session-files.js';
import type { ReviewResult } from './session-input.js';
import type { Memory } from './session-memory.js';
import { keptNote } from './session-remember.js';
import {
  countsOf,
  farewell,
  hasOpenAnswer,
  type Landed,
  leftOpen,
  totals,
  unwritten,
} from './session-write.js';

/** A review that has been written, as far as it could be. */
interface Ended {
  readonly review: Review;
  readonly files: ReviewedFiles;
  readonly memory: Memory;
  readonly failed: readonly { readonly path: string; readonly reason: string }[];
  /** Sentences that nobody has seen yet. */
  readonly news: readonly string[];
  /** Findings that left the review with a change on disk. */
  readonly gone: number;
  /** Whether a file changed on disk meanwhile. */
  readonly isChanged: boolean;
  /** Files that a yes for good was written into. */
  readonly assumedIn: readonly string[];
  readonly interrupted: boolean;
  /** Whether Ctrl-C was pressed meanwhile. */
  isStopped(): boolean;
  readonly aim: string | undefined;
  print(text: string): void;
}

/** Says what became of everything, and how to go on. */
export async function conclude(ended: Ended, landed: readonly Landed[], look: Look): Promise<ReviewResult> {
  const { review, files, memory, interrupted, print } = ended;
  const failed = [...ended.failed];
  for (const file of landed) {
    if (file.failed !== undefined) failed.push({ path: file.path, reason: file.failed });
    for (const sentence of file.excluded) print(noteText(sentence, look));
    for (const { note, lines } of file.otherwise)
      print(noteText(note, look) + lines.map((line) => `    ${line}\n`).join(''));
  }
  for (const note of ended.news) print(noteText(note, look));
  const counts = countsOf(review, landed, ended.gone);
  const { applied, suppressed, declined, unanswered, gone } = counts;
  print(`\n${boldText(`${totals(counts)}.`, look)}`);
  const isTaken = (kind: string | undefined) => kind === 'apply' || kind === 'edited';
  const taken = review.items.filter(
    ({ ref, path }) =>
      isTaken(review.answers.get(ref)?.kind) &&
      landed.some((file) => file.path === path && file.fixes > 0 && file.failed === undefined),
  );
  for (const sentence of afterwardsOf(taken.map((item) => files.finding(item))))
    print(noteText(sentence, look));
  const left = leftOpen(review, landed, files);
  const held = unwritten(review, landed, files);
  const where = memory.problem === undefined ? 'Not written; --resume has the answers:' : 'Not written:';
  if (held.length > 0) print(listText(where, held, look));
  if (unanswered > 0 && left.length > 0) print(listText('Left open:', left, look));
  const isOver = review.mode === 'finished' && !interrupted && failed.length === 0;
  if (!isOver && unanswered > 0)
    print(
      noteText(
        farewell(
          review,
          {
            ...{ interrupted, isKept: memory.problem === undefined, isChanged: ended.isChanged },
            isHeld: memory.drafts.size > 0 || memory.hasEarlier || hasOpenAnswer(review, landed),
          },
          ended.aim,
        ),
        look,
      ),
    );
  for (const file of new Set(ended.assumedIn)) print(noteText(keptNote(file), look));
  await lookAfterwards(ended, landed, look);
  if (isOver) memory.forget();
  const written = landed.filter((file) => file.fixes + file.suppressed > 0).length;
  return {
    applied,
    suppressed,
    declined,
    unanswered,
    gone,
    files: written,
    failed,
    interrupted: interrupted || ended.isStopped(),
  };
}

/** All is written: what only shows now takes a while to find, and whoever does not want to know may stop it. */
async function lookAfterwards(
  { memory, isStopped, print }: Ended,
  landed: readonly Landed[],
  look: Look,
): Promise<void> {
  const done = landed.filter(({ failed }) => failed === undefined);
  for (const [at, file] of done.entries()) {
    print(`${ERASE_LINE}all is written; looking at what is left in file ${at + 1} of ${done.length} …`);
    await new Promise((turn) => setImmediate(turn));
    if (isStopped()) break;
    const { fresh, declined } = file.look();
    memory.keepEntries(declined);
    if (fresh === 0) continue;
    const more = `${plural(fresh, 'finding')} of ${file.path} showed up only now; run memfix again to see more.`;
    print(ERASE_LINE + noteText(more, look));
  }
  print(ERASE_LINE);
}
