import { expect, it } from 'vitest';
import { allFixtures } from '../src/dev/torture/subject.js';
import type { PyNode } from '../src/syntax/node.js';
import { loadParser } from '../src/syntax/parser.js';
import { VARIANTS } from '../src/testing/variants.js';
import { decode } from '../src/text/decode.js';
import { fixtureSuite } from './support/suite.js';

const wasm = await loadParser('wasm');
const chosen = await loadParser();

// The base that must work everywhere, against the same recorded findings and outputs. What the other laws ask comes from
// the trees, which are compared below.
fixtureSuite(wasm, (law) => /^(?:is found as recorded|becomes its output|keeps its bytes)/.test(law));

it.runIf(chosen.backend !== 'wasm')('reads every fixture and its variants as the other parser does', () => {
  const texts = allFixtures().flatMap(({ input, project }) => [
    ...project.values(),
    ...[input, ...VARIANTS.filter(({ fits }) => fits(input)).map(({ vary }) => vary(input))].flatMap(
      (bytes) => {
        const decoded = decode(bytes);
        return decoded.ok ? [decoded.source.text] : [];
      },
    ),
  ]);
  expect(texts.length).toBeGreaterThan(10_000);
  expect(texts.filter((text) => outline(wasm.parse(text).root) !== outline(chosen.parse(text).root))).toEqual(
    [],
  );
});

function outline(root: PyNode): string {
  return [...root.walk()].map(({ type, start, end }) => `${type} ${start} ${end}`).join('\n');
}
