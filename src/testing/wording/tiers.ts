import { createEngine } from '../../engine/engine.js';
import { Neighbours } from '../../engine/neighbours.js';
import type { PythonParser } from '../../syntax/parser.js';
import { decode } from '../../text/decode.js';
import type { Span } from '../../text/lines.js';
import type { Transform } from '../../toolkit/contract.js';
import { defaultsOf } from '../defaults.js';
import { doorOf, type FixtureCase } from '../fixtures.js';
import type { Files } from './words.js';

/** What a law about words judges with. */
export interface Means {
  readonly parser: PythonParser;
  readonly transforms: readonly Transform[];
}

export interface Tier {
  readonly line: number;
  readonly id: string;
  readonly tier: string;
  /** Why it is no better. */
  readonly why: readonly string[];
  /** The code that its fix takes away. */
  readonly takes: readonly Span[];
}

/** Where the file stands that a fixture is about. */
export const INPUT = 'input.py';

/** The files of a fixture by path; undefined where its input is no text. */
export function filesOf({ input, project }: FixtureCase): Files | undefined {
  const decoded = decode(input);
  return decoded.ok ? new Map([[INPUT, decoded.source.text], ...project]) : undefined;
}

/** The transform that a fixture is about, or a folder where several meet. */
export function aboutOf({ folder }: FixtureCase): string {
  return folder.split(/[\\/]/).at(-2) ?? '';
}

/** How safe each finding of a fixture is, in order, with other texts in place of its files. */
export function tiersOf({ parser, transforms }: Means, fixture: FixtureCase, files: Files): readonly Tier[] {
  const decoded = decode(fixture.input);
  const text = files.get(INPUT);
  if (!decoded.ok || text === undefined) return [];
  const about = aboutOf(fixture);
  const project = new Map([...files].filter(([path]) => path !== INPUT));
  const neighbours = new Neighbours(parser, doorOf({ ...fixture, project }));
  const engine = createEngine({
    parser,
    transforms: transforms.filter(({ meta }) => about.startsWith('_') || meta.id === about),
    knownIds: new Set(transforms.map(({ meta }) => meta.id)),
    optionsFor: (id) => ({
      ...defaultsOf(transforms.find(({ meta }) => meta.id === id)),
      ...fixture.options,
    }),
    around: (...asked: Parameters<Neighbours['around']>) => neighbours.around(...asked),
  });
  const scan = engine.scan({ path: INPUT, source: { ...decoded.source, text } });
  if (scan.kind === 'skipped') return [];
  return scan.findings.map(({ at, transform, refusal, safety, questions, fix }) => ({
    line: at.line,
    id: transform,
    tier: refusal === undefined ? safety : 'refused',
    why: refusal === undefined ? questions.map((each) => each.text) : [refusal],
    takes: fix?.edits.filter(({ text: instead }) => instead === '') ?? [],
  }));
}
