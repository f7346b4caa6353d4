import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../src/dev/project.js';
import type { Recorded } from '../src/testing/fixtures.js';

interface Case {
  readonly place: string;
  readonly found: Extract<Recorded, { readonly safety: string }>;
}

const CASES: readonly Case[] = readdirSync(join(root, 'fixtures'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('findings.json') && !path.startsWith('_notebooks'))
  .flatMap((path) => {
    const recorded = JSON.parse(readFileSync(join(root, 'fixtures', path), 'utf8')) as readonly Recorded[];
    return recorded.flatMap((found) => ('safety' in found ? [{ place: path, found }] : []));
  });

const ASKED = CASES.flatMap(({ place, found }) =>
  (found.questions ?? []).map((entry) => {
    const [, kind = '', subject = '', text = ''] =
      /^([a-z0-9-]+)(?:\(([\s\S]*)\))?: ((?:Is|Are|Does|Do|May|Can|Has) [\s\S]*)$/.exec(entry) ?? [];
    return { place, entry, kind, subject, text };
  }),
);

/** As a subject names it: without lines, which move. */
function plain(text: string): string {
  return text.replaceAll('`', '').replace(/(?<=\.\w+):\d+/g, '');
}

function wrong(isRight: (asked: (typeof ASKED)[number]) => boolean): readonly string[] {
  return ASKED.filter((each) => !isRight(each)).map(({ place, entry }) => `${place}: ${entry}`);
}

describe('what a person is asked, in every fixture', () => {
  it('is there for every unsafe finding, and only there', () => {
    expect(ASKED.length).toBeGreaterThan(500);
    const silent = CASES.filter(
      ({ found }) => found.safety === 'unsafe' && (found.questions ?? []).length === 0,
    );
    expect(silent.map(({ place }) => place)).toEqual([]);
    const needless = CASES.filter(({ found }) => found.safety === 'safe' && found.questions !== undefined);
    expect(needless.map(({ place }) => place)).toEqual([]);
  });

  it('is one question with a kind', () => {
    expect(
      wrong(({ kind, text }) => kind !== '' && /^[^?\n]+\?$/.test(text.replace(/`[^`]*`/g, '``'))),
    ).toEqual([]);
  });

  it('names whom it asks about', () => {
    expect(wrong(({ subject, text }) => subject !== '' && plain(text).includes(plain(subject)))).toEqual([]);
  });

  it('is no double negative, so that yes is yes', () => {
    const negations = /\b(?:not|no|nobody|nothing|never|neither|nor|none|without|unlike)\b/g;
    const isPlain = (text: string) =>
      (
        text
          .replace(/`[^`]*`/g, '')
          .replace(/\([^()]*\)|only read and never differentiated/g, '')
          .match(negations) ?? []
      ).length < 2;
    expect(
      wrong(({ text }) => isPlain(text) && !/^\w+ (?:\S+ )?(?:not|nobody|nothing)\b/.test(text)),
    ).toEqual([]);
  });
});
