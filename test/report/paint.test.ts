import { expect, test } from 'vitest';
import { inColor } from '../../src/report/paint.js';
import { forTerminal } from '../../src/report/terminal.js';

/** By WCAG: of a grey of 0 to 255. */
function luminance(grey: number): number {
  const share = grey / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

test('what is less important can be read on black and on white', () => {
  const [, number] = /^\x1b\[38;5;(\d+)mx\x1b\[39m$/.exec(forTerminal(inColor.dim('x'))) ?? [];
  // The greys of the 256 colours, which no theme changes.
  expect(Number(number)).toBeGreaterThanOrEqual(232);
  const light = luminance(8 + 10 * (Number(number) - 232));
  expect((light + 0.05) / 0.05).toBeGreaterThanOrEqual(4.5);
  expect(1.05 / (light + 0.05)).toBeGreaterThanOrEqual(4.5);
});
