import { type Offer, type OfferedChange, Original } from '../../../src/report/migrate/offer.js';
import { pageOf, type Told } from '../../../src/report/migrate/page/collect.js';
import type { RepositoryRecord } from '../../../src/report/migrate/record.js';

export const KNOWN = [
  {
    id: 'detach-appended-loss',
    summary: 'Detach losses that are collected',
    safety: 'safe',
    numerics: 'bit-identical',
  },
  { id: 'no-grad', summary: 'Evaluate under `torch.no_grad()`', safety: 'safe', numerics: 'bit-identical' },
  { id: 'zero-grad-none', summary: 'Set gradients to none', safety: 'unsafe', numerics: 'rounding' },
] as const;

const BEFORE = `import torch


class Trainer:
    """Trains, "quoted" and all.

    hold on: this is prose, not code
    """

    def train(self, loader, epochs: int = 10):
        losses = []
        for batch in loader:  # one step
            loss = self.model(batch["input_ids"], labels=batch['labels']).loss
            loss.backward()
            losses.append(loss)
        return sum(losses) / len(losses)

    @property
    def device(self):
        return next(self.model.parameters()).device
`;
const AFTER = BEFORE.replace('losses.append(loss)', 'losses.append(loss.detach())');

/** A file with another text. */
export function changed(path: string, before: string, after: string): OfferedChange {
  return new Original(path, before).edited([{ start: 0, end: before.length, text: after }]);
}

export function offer(index: number, more: Partial<Offer> = {}): Offer {
  const { id, safety, numerics } = KNOWN[index % KNOWN.length] ?? KNOWN[0];
  const path = more.path ?? `src/train_${Math.floor(index / 2)}.py`;
  return {
    ref: `ref${index}`,
    path,
    hash: 'h',
    key: `k${index}`,
    likeness: 'l',
    line: 15,
    transform: id,
    title: 'Detach the loss before appending it',
    message: '`losses` keeps the graph of every step alive until the epoch ends',
    safety,
    numerics,
    unproven: [],
    changes: [changed(path, BEFORE, AFTER)],
    fate: 'taken',
    ...more,
  };
}

export function told(index: number, more: Partial<RepositoryRecord> = {}, offers = offersOf(index)): Told {
  const record: RepositoryRecord = {
    version: 1,
    id: `repository-${index}`,
    name: `team-${index % 17}/project-${index}`,
    url: `https://git.example.invalid/team-${index % 17}/project-${index}.git`,
    base: { commit: index.toString(16).padStart(40, 'a'), branch: 'main' },
    planned: {
      key: `plan-${index}`,
      at: '2026-01-01T00:00:00Z',
      checked: 40 + index,
      files: new Set(offers.map(({ path }) => path)).size,
      fixes: [],
      remaining: index % 5,
      refused: index % 3,
      skipped: index % 9 === 0 ? [{ path: 'bad.py', reason: 'it is not valid Python' }] : [],
      bugs: [],
      steps: offers.length === 0 ? [] : [{ patch: 'p', sha256: 's', fixes: [] }],
    },
    ...(index % 11 === 0 && {
      failure: {
        stage: 'verify',
        title: 'The verify command fails with the fixes',
        detail: 'exit 1\nE   assert 1 == 2',
        next: 'Look at the log, then `memfix migrate run --failed` tries it again.',
      },
    }),
    ...(index % 4 === 1 && { pushed: { branch: 'memfix/fixes', commit: 'c'.repeat(40) } }),
    ...more,
  };
  return { record, offers, verdictOf: () => undefined };
}

function offersOf(index: number): readonly Offer[] {
  return Array.from({ length: index % 6 }, (_, at) => offer(at));
}

export const HEAD = {
  title: 'spring-clean',
  tool: 'memfix 0.0.0',
  made: '2026-01-01T00:00:00Z',
  isReview: false,
};

export function samplePage(all: readonly Told[]) {
  return pageOf(HEAD, all, KNOWN);
}
