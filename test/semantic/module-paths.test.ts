import { expect, test } from 'vitest';
import { fileImported } from '../../src/semantic/module-paths.js';

const FILES: ReadonlySet<string> = new Set([
  '/work/kit/run.py',
  '/work/kit/nets.py',
  '/work/kit/__init__.py',
  '/work/kit/parts',
  '/work/kit/parts/layers.py',
]);

function imported(dotted: string, more: readonly string[] = []): string | undefined {
  return fileImported(
    '/work/kit/run.py',
    dotted,
    ['/work/kit'],
    (each) => FILES.has(each) || more.includes(each),
  );
}

test('a file beside is imported by its name', () => {
  expect(imported('nets')).toBe('/work/kit/nets.py');
  expect(imported('parts.layers')).toBe('/work/kit/parts/layers.py');
});

test('a checkout may be the package that it is called', () => {
  expect(imported('kit.nets')).toBe('/work/kit/nets.py');
  expect(imported('kit.parts.layers')).toBe('/work/kit/parts/layers.py');
  expect(imported('kit')).toBe('/work/kit/__init__.py');
  expect(imported('other.nets')).toBeUndefined();
});

test('a package of that name in it goes before', () => {
  const inner = ['/work/kit/kit', '/work/kit/kit/nets.py'];
  expect(imported('kit.nets', inner)).toBe('/work/kit/kit/nets.py');
  expect(imported('kit.parts.layers', inner)).toBeUndefined();
});
