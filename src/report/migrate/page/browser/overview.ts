import { STATUSES, type StageFailure } from '../../record.js';
import { perTransform } from '../../tally.js';
import type { PageRepository } from '../data.js';
import { NO_WISH } from '../matching.js';
import { type Child, h, many, prose, theirs } from './dom.js';
import type { State } from './state.js';

const MOST_LINKS = 12;

/** The campaign as a whole. */
export function overview(state: State): HTMLElement {
  const { data, repositories } = state;
  const sum = (of: (repository: PageRepository) => number | undefined) =>
    repositories.reduce((total, repository) => total + (of(repository) ?? 0), 0);
  const decided = sum(({ tally }) => tally.accepted + tally.rejected);
  const held = sum(({ tally }) => tally.held);
  const failed = repositories.filter(({ failure }) => failure !== undefined);
  const tiles: readonly (readonly [string, number, string?])[] = [
    ['Repositories', repositories.length],
    ['Fixes', sum(({ tally }) => tally.fixes)],
    ['Files changed', sum(({ tally }) => tally.files)],
    ['Failed', failed.length, failed.length > 0 ? 'bad' : ''],
    ...(decided > 0 || data.isReview ? ([['Decided', decided]] as const) : []),
    ['Rejected', sum(({ tally }) => tally.rejected)],
    ...(held > 0 ? ([['Held back', held]] as const) : []),
  ];
  return h(
    'div',
    { class: 'overview' },
    h('h1', { tabindex: -1 }, theirs(data.title)),
    h(
      'dl',
      { class: 'tiles' },
      tiles.map(([name, count, tone]) =>
        h('div', { class: `tile ${tone ?? ''}` }, h('dt', {}, name), h('dd', {}, count.toLocaleString('en'))),
      ),
    ),
    statuses(state),
    transforms(state),
    failed.length > 0 && failures(state, failed),
    h(
      'p',
      { class: 'made dim' },
      `Made by ${data.tool} on ${data.made.slice(0, 16).replace('T', ' at ')} UTC`,
    ),
  );
}

function statuses(state: State): HTMLElement {
  const counts = STATUSES.map((status) => ({
    status,
    count: state.repositories.filter((repository) => repository.status === status).length,
  })).filter(({ count }) => count > 0);
  const bar = h('div', { class: 'bar', 'aria-hidden': 'true' });
  for (const { status, count } of counts) {
    const part = h('span', { 'data-status': status, title: `${count} ${status}` });
    part.style.flexGrow = String(count);
    bar.append(part);
  }
  return h(
    'section',
    {},
    h('h2', {}, 'Where they are'),
    bar,
    h(
      'ul',
      { class: 'legend' },
      counts.map(({ status, count }) =>
        h(
          'li',
          {},
          h(
            'a',
            { href: state.addressOf({ open: '', wish: { ...NO_WISH, statuses: [status] } }) },
            h('span', { class: 'status', 'data-status': status }, status),
            h('strong', {}, count.toLocaleString('en')),
          ),
        ),
      ),
    ),
  );
}

function transforms(state: State): HTMLElement {
  const totals = perTransform(state.repositories.map(({ tally }) => tally));
  const [{ fixes: most } = { fixes: 1 }] = totals;
  const known = new Map(state.data.transforms.map((each) => [each.id, each]));
  const rows = totals.map(({ transform: id, fixes, repositories }) => {
    const { summary = '', safety = '', numerics = '' } = known.get(id) ?? {};
    const bar = h('span', { class: 'amount', 'aria-hidden': 'true' });
    bar.style.width = `${(100 * fixes) / most}%`;
    return h(
      'tr',
      {},
      h(
        'th',
        { scope: 'row' },
        h(
          'a',
          { href: state.addressOf({ open: '', wish: { ...NO_WISH, transform: id } }) },
          h('code', {}, id),
        ),
        h('span', { class: 'dim' }, prose(summary)),
      ),
      h('td', { class: 'count' }, bar, h('span', {}, fixes.toLocaleString('en'))),
      h('td', { class: 'figure' }, repositories.toLocaleString('en')),
      h('td', {}, badge(safety), badge(numerics)),
    );
  });
  return h(
    'section',
    {},
    h('h2', {}, 'Fixes by transform'),
    rows.length === 0
      ? h('p', { class: 'dim' }, 'No plan offers a fix yet.')
      : h(
          'div',
          { class: 'scroll' },
          h(
            'table',
            { class: 'totals' },
            h(
              'thead',
              {},
              h(
                'tr',
                {},
                ['Transform', 'Fixes', 'Repositories', 'Safety and numerics'].map((name) =>
                  h('th', { scope: 'col' }, name),
                ),
              ),
            ),
            h('tbody', {}, rows),
          ),
        ),
  );
}

export function badge(word: string): HTMLElement {
  return h('span', { class: 'badge', 'data-word': word }, word);
}

/** The same trouble once, with all that have it. */
function failures(state: State, failed: readonly PageRepository[]): HTMLElement {
  const groups = Map.groupBy(failed, ({ failure }) => `${failure?.stage}: ${failure?.title}`);
  const sorted = [...groups.values()].sort((a, b) => b.length - a.length);
  return h(
    'section',
    {},
    h('h2', {}, 'Failures'),
    sorted.map(
      ([first, ...others]) => first?.failure && failureGroup(state, first.failure, [first, ...others]),
    ),
  );
}

function failureGroup(state: State, failure: StageFailure, those: readonly PageRepository[]): Child {
  const rest = those.length - MOST_LINKS;
  return h(
    'div',
    { class: 'failure' },
    h(
      'h3',
      {},
      theirs(failure.title),
      h(
        'span',
        { class: 'dim' },
        ` in ${failure.stage} · ${many(those.length, 'repository', 'repositories')}`,
      ),
    ),
    h('p', {}, h('strong', {}, 'Next: '), prose(failure.next)),
    h(
      'ul',
      { class: 'links' },
      those
        .slice(0, MOST_LINKS)
        .map(({ id, name }) => h('li', {}, h('a', { href: state.addressOf({ open: id }) }, theirs(name)))),
      rest > 0 &&
        h(
          'li',
          {},
          h(
            'a',
            {
              href: state.addressOf({
                open: '',
                wish: {
                  ...NO_WISH,
                  statuses: [...new Set(those.map(({ status }) => status))],
                  text: failure.title,
                },
              }),
            },
            `and ${rest.toLocaleString('en')} more`,
          ),
        ),
    ),
  );
}
