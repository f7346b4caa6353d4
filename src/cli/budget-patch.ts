import type { Step } from '../budget/fit.js';
import { PROPOSED } from '../budget/fit.js';
import { createEngine, policy } from '../engine/engine.js';
import type { SourceFile } from '../engine/outcome.js';
import { patchOf } from '../report/patch.js';
import { loadParser } from '../syntax/parser.js';
import type { Options, Transform } from '../toolkit/contract.js';
import type { Around } from './budget-project.js';

/** Settings with which a transform shows whether it finds anything to do. */
const PROBES: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'rebalance-batch': { 'batch-size': 1 },
  'max-sequence-length': { length: 16 },
  'lora-rank': { rank: 1 },
};

/** What transforms do to one script, to make its run fit. */
export class Fitter {
  constructor(
    private readonly script: SourceFile,
    private readonly transforms: readonly Transform[],
    /** As `check` sees it: what the project says counts here as well. */
    private readonly around: Around | undefined,
  ) {}

  /** Which proposals a transform writes into this very code; settings that no transform writes are none. */
  async offered(): Promise<(transform: string | undefined) => boolean> {
    const able = new Set<string>();
    for (const id of PROPOSED) {
      if ((await this.#after(this.script, id, PROBES[id] ?? {})) !== undefined) able.add(id);
    }
    return (transform) => transform !== undefined && able.has(transform);
  }

  /** The steps one after the other, as a patch, and what became of each. */
  async patch(
    steps: readonly Step[],
  ): Promise<{ readonly patch: Buffer; readonly comments: readonly string[] }> {
    let file = this.script;
    const comments: string[] = [];
    for (const { transform, options, what, price } of steps) {
      const after = transform === undefined ? undefined : await this.#after(file, transform, options);
      const name = transform ?? 'by hand';
      comments.push(after === undefined ? `not written: ${what} (${name})` : `${name}: ${what}; ${price}`);
      if (after !== undefined) file = { ...file, source: { ...file.source, text: after } };
    }
    const { path, source } = this.script;
    return { patch: patchOf([{ path, source, after: file.source.text, comments }]), comments };
  }

  async #after(file: SourceFile, id: string, options: Options): Promise<string | undefined> {
    const { around } = this;
    const transform = this.transforms.find(({ meta }) => meta.id === id);
    if (transform === undefined) return undefined;
    const defaults = Object.entries(transform.meta.options).map(
      ([name, option]) => [name, option.default] as const,
    );
    const engine = createEngine({
      parser: await loadParser(),
      transforms: [transform],
      knownIds: new Set(this.transforms.map(({ meta }) => meta.id)),
      optionsFor: () => ({ ...Object.fromEntries(defaults), ...options }),
      ...(around !== undefined && { around: (path, _, self) => around(path, self) }),
    });
    const outcome = await engine.repair(file, policy({ unsafe: true }));
    return outcome.kind === 'outcome' && outcome.after !== file.source.text ? outcome.after : undefined;
  }
}
