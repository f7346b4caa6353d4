import { expect, it } from 'vitest';
import { sharingCtrlC } from '../../src/cli/shared-interrupt.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('waits for our own share of a Ctrl-C that ended the other program', async () => {
  const before = process.listenerCount('SIGINT');
  let isOver = false;
  const end = sharingCtrlC(
    async () => 'interrupted',
    (how) => how === 'interrupted',
  ).then((how) => {
    isOver = true;
    return how;
  });
  await turn();
  expect(isOver).toBe(false);
  process.emit('SIGINT', 'SIGINT');
  expect(await end).toBe('interrupted');
  expect(process.listenerCount('SIGINT')).toBe(before);
});

it.each(['first', 'never'])('waits for nothing where the signal came %s', async (when) => {
  let isOver = false;
  const end = sharingCtrlC(
    async () => {
      if (when === 'first') process.emit('SIGINT', 'SIGINT');
    },
    () => when === 'first',
  ).then(() => {
    isOver = true;
  });
  await turn();
  expect(isOver).toBe(true);
  await end;
});
