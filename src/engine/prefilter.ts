import { isTestFile } from '../semantic/test-code.js';
import type { Glimpse } from '../syntax/glimpse.js';
import { type LiteralSearch, searchFor } from '../text/literals.js';
import type { Transform } from '../toolkit/contract.js';
import type { EngineSetup } from './engine.js';

/** The selected transforms that look for something with their options. */
export function awake({ transforms, optionsFor }: EngineSetup): readonly Transform[] {
  return transforms.filter(({ meta, isIdle }) => isIdle?.(optionsFor(meta.id)) !== true);
}

/** What a pass over the bytes of a file has shown. */
export interface Among {
  /** Those whose literals occur. */
  readonly transforms: readonly Transform[];
  /** There may be a comment for memfix. */
  readonly isAddressed: boolean;
  /** Of the literals of these transforms, those that do not occur: their cues need not look for them once more. */
  readonly absent?: ReadonlySet<string>;
}

const ADDRESS = 'memfix:';

/** The literals of all transforms, looked for in one pass over the bytes of a file. */
export class Prefilter {
  readonly #literals: LiteralSearch;
  readonly #spelled: readonly string[];
  readonly #wanted: readonly (readonly [Transform, readonly (readonly number[])[]])[];
  readonly #address: number;

  constructor(transforms: readonly Transform[]) {
    const index = new Map<string, number>();
    const indexOf = (literal: string): number => {
      const known = index.get(literal) ?? index.size;
      index.set(literal, known);
      return known;
    };
    this.#wanted = transforms.map((transform) => [
      transform,
      transform.prefilter.map((wanted) => [wanted].flat().map(indexOf)),
    ]);
    this.#address = indexOf(ADDRESS);
    this.#spelled = [...index.keys()];
    this.#literals = searchFor(this.#spelled);
  }

  /** A transform's literals occur: all of the outer list, one of each inner list. */
  among(bytes: Uint8Array): Among {
    const found = this.#literals.in(bytes);
    const wanted = this.#wanted.filter(([, groups]) =>
      groups.every((group) => group.some((literal) => found.has(literal))),
    );
    const absent = new Set<string>();
    for (const [, groups] of wanted)
      for (const group of groups)
        for (const literal of group) if (!found.has(literal)) absent.add(this.#spelled[literal] ?? '');
    const transforms = wanted.map(([transform]) => transform);
    // Where nothing is looked for, nobody asks.
    return { transforms, isAddressed: transforms.length > 0 && found.has(this.#address), absent };
  }
}

/** The same for a text, whose bytes nobody has looked at. */
export function amongText(all: readonly Transform[], text: string): Among {
  const transforms = all.filter(({ prefilter }) =>
    prefilter.every((wanted) => [wanted].flat().some((literal) => text.includes(literal))),
  );
  return { transforms, isAddressed: text.includes(ADDRESS) };
}

/** Of transforms whose literals occur, those whose own cue does not say that there is no site. */
export function withCue(
  { optionsFor }: EngineSetup,
  transforms: readonly Transform[],
  path: string,
  glimpse: Glimpse,
): readonly Transform[] {
  const answers = new Map<unknown, boolean>();
  let isTest: boolean | undefined;
  return transforms.filter(({ meta, cue, skipsTests }) => {
    if (skipsTests === true) {
      isTest ??= isTestFile(path, glimpse.text);
      if (isTest) return false;
    }
    if (cue === undefined) return true;
    // Transforms that look for the same share their cue.
    const answer = answers.get(cue) ?? cue(glimpse.text, path, glimpse, optionsFor(meta.id));
    answers.set(cue, answer);
    return answer;
  });
}
