import { describe, expect, it } from 'vitest';
import { areAllChosen, casesOf, isChosen, recording } from '../../src/dev/fixtures.js';
import type { PythonParser } from '../../src/syntax/parser.js';
import { complaints } from '../../src/testing/cpython.js';
import type { FixtureCase } from '../../src/testing/fixtures.js';
import { bytesOf, type Court, caseLaws, engineFor, repaired, sourceFile } from '../../src/testing/laws.js';
import { transforms } from '../../transforms/index.js';

/** What meets in a case, where it says so itself. */
function chosenFor(fixture: FixtureCase, tested: Court['transforms']): Court['transforms'] {
  const ids = fixture.transforms;
  return ids === undefined ? tested : transforms.filter(({ meta }) => ids.includes(meta.id));
}

/** Every fixture under every law, or those chosen, with one parser. Each parser has its own test file, so that they run side by side. */
export function fixtureSuite(parser: PythonParser, isHeldTo: (law: string) => boolean = () => true): void {
  const results = new Map<string, string>();
  const court = (subject: string, tested: Court['transforms']): Court => ({
    parser,
    transforms: tested,
    all: transforms,
    withId: subject.startsWith('_'),
    records: recording,
    compiles: (label, bytes) => {
      results.set(bytes.toString('latin1'), `${subject}/${label}`);
    },
  });

  // What meets without being asked for, and what shares its sites with another fix.
  const asked = ['stack-losses'];
  const meeting = transforms.filter(({ meta }) => meta.group === 'default' || asked.includes(meta.id));
  const subjects = [
    ...transforms.map((transform) => [transform.meta.id, [transform]] as const),
    ...['_together', '_bytes'].map((folder) => [folder, meeting] as const),
  ];
  for (const [subject, tested] of subjects.filter(([subject]) => isChosen(subject))) {
    describe(`${subject}, ${parser.backend}`, () => {
      it('has fixtures', () => {
        expect(casesOf(subject)).not.toEqual([]);
      });
      for (const fixture of casesOf(subject))
        describe(fixture.name, () => {
          for (const { name, check } of caseLaws(court(subject, chosenFor(fixture, tested)), fixture))
            if (isHeldTo(name)) it(name, check);
        });
    });
  }

  it.runIf(areAllChosen).each([
    ['33 KiB', 33 * 1024],
    ['1 MiB', 1024 * 1024 + 1],
  ])('fixes the last lines of a file of more than %s', async (_, size) => {
    const filler =
      'def scale_%(values):\n    return [value * 2 for value in values]  # \u00fc \u{1f525}\n\n\n';
    const above = Array.from({ length: Math.ceil(size / 70) }, (_each, at) =>
      filler.replace('%', `${at}`),
    ).join('');
    const save =
      'import torch\n\n\ndef finish(model: torch.nn.Module, path):\n%    torch.save(model.state_dict(), path)\n';
    const input = Buffer.from(above + save.replace('%', ''));
    expect(input.length).toBeGreaterThan(size);
    const file = sourceFile(input);
    const outcome = await repaired(
      engineFor(court('_large', transforms), transforms, {}),
      file,
      ({ safety }) => ({
        kind: safety === 'safe' ? 'apply' : 'skip',
      }),
    );
    const expected = above + save.replace('%', '    torch.cuda.empty_cache()\n');
    expect(bytesOf(outcome.after, file).equals(Buffer.from(expected))).toBe(true);
  });

  it('gives results that CPython compiles', () => {
    const answers = complaints([...results.keys()].map((bytes) => Buffer.from(bytes, 'latin1')));
    const labels = [...results.values()];
    expect(labels).not.toEqual([]);
    expect(
      answers.flatMap((answer, at) => (answer === undefined ? [] : [`${labels[at]}: ${answer}`])),
    ).toEqual([]);
  });
}
