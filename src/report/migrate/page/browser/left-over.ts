import { placeText } from '../../../../text/place.js';
import type { PageDetail, PageRepository } from '../data.js';
import { type Child, h, many, prose, theirs } from './dom.js';
import { badge } from './overview.js';

/** Why there is no fix to show. */
export function nothing({ status }: PageRepository): HTMLElement {
  const words: Partial<Record<PageRepository['status'], string>> = {
    'no change': 'Nothing here needs a fix.',
    empty: 'The repository has no commit.',
    new: 'Not looked at yet: `memfix migrate plan` does that.',
    cloned: 'Not looked at yet: `memfix migrate plan` does that.',
  };
  return h(
    'p',
    { class: 'nothing' },
    prose(
      words[status] ??
        'The fixes of this plan are not on record: `memfix migrate plan --update` makes it anew.',
    ),
  );
}

/** What the plan leaves as it is, and what memfix could not look at. */
export function leftOver(
  { skipped, bugs, left }: PageDetail,
  { remaining = 0, refused = 0 }: PageRepository,
): readonly HTMLElement[] {
  const folded = (title: string, lines: readonly Child[]) =>
    lines.length === 0
      ? []
      : [
          h(
            'details',
            {},
            h('summary', {}, title),
            h(
              'ul',
              {},
              lines.map((line) => h('li', {}, line)),
            ),
          ),
        ];
  // Rejected and held ones have cards of their own.
  const others = left.filter(({ kind }) => kind !== 'rejected' && kind !== 'held');
  const unchanged = `${many(remaining + refused, 'finding')} left as they are`;
  return [
    ...folded(
      others.length < remaining + refused ? `${unchanged}, of which ${others.length}` : unchanged,
      others.map(({ path, transform, kind, because, ...at }) => [
        theirs(placeText(path, at), { class: 'path' }),
        ' ',
        h('code', {}, transform),
        ' ',
        badge(kind),
        ' ',
        prose(because),
      ]),
    ),
    ...folded(
      `${many(skipped.length, 'file')} not looked at`,
      skipped.map(({ path, reason }) => [theirs(path, { class: 'path' }), ': ', theirs(reason)]),
    ),
    ...folded(
      `memfix failed ${many(bugs.length, 'time')}: please report this`,
      bugs.map((bug) => prose(bug)),
    ),
  ];
}
