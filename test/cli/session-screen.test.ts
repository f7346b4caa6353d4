import { describe, expect, it } from 'vitest';
import { folderOf, start } from '../support/pty-cases.js';

describe('the screen', () => {
  it('has no line wider than a terminal of 60 columns, but for code', async () => {
    const session = start(folderOf(), { cols: 60 });
    await session.asked('1/4');
    session.type('?');
    await session.sees('Any key goes on');
    session.type(' ');
    await session.asked('1/4');
    session.type('i');
    // Without a pager, too, what is asked about stands above the question.
    expect((await session.asked('1/4')).split('Suppress it')[1]).toContain('+     release(x)');
    for (const line of session.text.split('\n')) expect([...line].length, line).toBeLessThanOrEqual(60);
  });

  it.each([
    [60, 20, 2],
    [80, 24, 1],
    [120, 40, 0],
  ])(
    'shows its help in pieces of a window of %i×%i, and the card again below it',
    async (cols, rows, waits) => {
      const session = start(folderOf(), { cols, rows });
      await session.asked('1/4');
      session.type('?');
      const pieces: string[] = [];
      for (let wait = 0; wait < waits; wait++) {
        pieces.push(await session.sees('Any key goes on, q to the finding. '));
        session.type('\r');
      }
      pieces.push(await session.asked('1/4'));
      for (const piece of pieces) expect(piece.split('\n').length).toBeLessThanOrEqual(rows + 1);
      for (const line of ['  y       yes to what is asked', '  q       quit and keep', '  Ctrl-C  stop:'])
        expect(pieces.join('')).toContain(line);
      expect(pieces.at(-1)).toContain('── 1/4 ── a.py:2:5');
      expect(pieces.at(-1)).toContain('+     release(x)');
    },
  );

  it('leaves its help by q, which answers nothing, and by Ctrl-C', async () => {
    const session = start(folderOf());
    await session.asked('1/4');
    session.type('?');
    await session.sees('Any key goes on');
    session.type('q');
    expect(await session.asked('1/4')).toContain('── 1/4');
    session.type('?');
    await session.sees('Any key goes on');
    session.type('\x03');
    expect(await session.asked('1/4')).toContain('── 1/4');
    session.type('\x03');
    expect((await session.ended()).code).toBe(130);
  });

  it('has no colour where none is wanted, and colours the diff where it is', async () => {
    const plain = start(folderOf());
    await plain.asked('1/4');
    plain.type('s');
    await plain.sees('ignore[toy-hold]');
    expect(plain.raw).not.toMatch(/\x1b\[[\d;]*m/);
    const coloured = start(folderOf(), { flags: ['--color'] });
    await coloured.asked('1/4');
    expect(coloured.raw).toContain('\x1b[32m+     \x1b[7mrelease\x1b[27m(x)\x1b[39m');
    expect(coloured.raw).toContain('\x1b[91m-     \x1b[7mhold\x1b[27m(x)\x1b[39m');
  });

  it('clips a diff that is taller than the terminal, and p shows all of it', async () => {
    const session = start(folderOf({ 'a.py': 'tall(x)\n' }), { rows: 20 });
    const clipped = await session.asked('1/1');
    expect(clipped.split('\n').length).toBeLessThanOrEqual(20);
    expect(clipped).toMatch(/⋮ \d+ more rows, \d+ of them changed: Space or ↓ scrolls/);
    expect(clipped).not.toContain('step_59()');
    session.type('p');
    expect(await session.asked('1/1')).toContain(' + step_59()');
  });

  it('shows control characters of the source instead of obeying them', async () => {
    const session = start(folderOf({ 'a.py': "hold('\x1b[2J\x07')\n" }));
    expect(await session.asked('1/1')).toContain("release('␛[2J␇')");
    expect(session.raw).not.toContain('\x1b[2J');
  });

  it('asks again at the new width after a resize', async () => {
    const session = start(folderOf(), { cols: 80 });
    await session.asked('1/4');
    session.resize(60, 20);
    const again = await session.asked('1/4');
    expect(again).toContain(`── 1/4 ── a.py:2:5 ${'─'.repeat(41)}\n`);
    session.type('y');
    await session.asked('2/4');
  });

  it('asks again after Ctrl-Z, also where nobody could wake a stopped job', async () => {
    const session = start(folderOf());
    await session.asked('1/4');
    session.type('\x1a');
    expect(await session.asked('1/4')).toContain('── 1/4');
    session.type('y');
    await session.asked('2/4');
  });

  it('ends with the counts', async () => {
    const session = start(folderOf());
    await session.asked('1/4');
    session.type('yn');
    await session.asked('3/4');
    session.type('q');
    expect((await session.ended()).text).toContain('1 fix applied in 1 file, 1 declined, 2 left open.');
  });
});

it('says on the card, and at the end, what a fix leaves to a person', async () => {
  const loop = `def fit(model, loader, criterion, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
`;
  const session = start(folderOf({ 'fit.py': `import torch\n\n\n${loop}` }), {
    cols: 80,
    rows: 24,
    flags: ['--real'],
  });
  const then = "make the loader's batch smaller by as much: memory falls only then.";
  let card = await session.sees('(1/');
  for (let at = 2; !card.includes('gradient-accumulation-loop') && at < 6; at++) {
    session.type('n');
    card = await session.sees(`(${at}/`);
  }
  expect(card).toMatch(/then\s+make the loader's batch smaller by as much: memory falls only then\./);
  session.type('y');
  session.type('q');
  await session.ended();
  expect(session.text.replaceAll(/\s+/g, ' ')).toContain(`After \`gradient-accumulation-loop\`: ${then}`);
});
