import { describe, expect, it } from 'vitest';
import { callsNamed } from '../../src/semantic/called-name.js';
import { moduleOf } from '../support/module.js';

function named(text: string): readonly string[] {
  return callsNamed(moduleOf(text), 'run').map(({ call }) => call.text);
}

describe('callsNamed', () => {
  it.each([
    ['a plain name', 'from a import run\nrun(1)\n', ['run(1)']],
    ['a path', 'import a.b\na.b.run(1)\n', ['a.b.run(1)']],
    ['an alias of an import', 'from a import run as go\ngo(1)\nrun(2)\n', ['go(1)', 'run(2)']],
    ['an alias by assignment', 'import a\ngo = a.run\ngo(1)\n', ['go(1)']],
    ['a call inside another', 'run(run(1))\n', ['run(run(1))', 'run(1)']],
    ['neither text nor other names', '"run(1)"  # run(2)\nrunner(3)\nrun\nf(run)\n', []],
    ['nothing in an f-string', 'f"{run(1)}"\n', []],
    ['no keyword of that name', 'f(run=1)\n', []],
  ])('finds %s', (_, text, expected) => {
    expect(named(text)).toEqual(expected);
  });
});
