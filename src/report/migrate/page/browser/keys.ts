import { h } from './dom.js';

/** A key, what it does in words, and what it does. */
export interface Key {
  readonly keys: readonly string[];
  readonly words: string;
  act(): void;
}

/** Listens wherever nobody types. */
export function listen(keys: readonly Key[]): void {
  const acts = new Map(keys.flatMap((key) => key.keys.map((name) => [name, key])));
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector('dialog[open]') !== null) return;
    const isTyping = event.target instanceof Element && event.target.matches('input, select, textarea');
    if (isTyping && event.key !== 'Escape') return;
    const key = acts.get(event.key);
    if (key === undefined) return;
    event.preventDefault();
    key.act();
  });
}

export function helpOf(keys: readonly Key[]): HTMLDialogElement {
  const rows = keys.map(({ keys: names, words }) =>
    h(
      'tr',
      {},
      h(
        'td',
        {},
        names.map((name) => h('kbd', {}, name === 'Escape' ? 'Esc' : name)),
      ),
      h('td', {}, words),
    ),
  );
  const arrows = h(
    'tr',
    {},
    h('td', {}, h('kbd', {}, '↑'), h('kbd', {}, '↓')),
    h('td', {}, 'along the list, once it has the focus'),
  );
  const dialog = h(
    'dialog',
    { class: 'help', 'aria-label': 'Keys' },
    h('h2', {}, 'Keys'),
    h('table', {}, h('tbody', {}, rows, arrows)),
    h('button', { type: 'button', autofocus: true, click: () => dialog.close() }, 'Close'),
  );
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  return dialog;
}
