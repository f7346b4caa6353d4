import { createEngine, type Engine } from '../../src/engine/engine.js';
import type { SourceFile } from '../../src/engine/outcome.js';
import { loadParser } from '../../src/syntax/parser.js';
import type { Advice, Fix, PyNode, Refusal, Transform, TransformMeta } from '../../src/toolkit/index.js';
import { type EditBuilder, Proof, statementOf } from '../../src/toolkit/index.js';

const parser = await loadParser();

export function metaOf(id: string, more: Partial<TransformMeta> = {}): TransformMeta {
  return {
    id,
    summary: `A toy called ${id}`,
    symptom: 'leak',
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'default',
    options: {},
    requires: {},
    docs: { why: '', does: '', refuses: [], limits: [] },
    evidence: { verdict: 'not measured', measurements: [] },
    origin: [],
    example: 'fix-none',
    ...more,
  };
}

/** A transform that looks for a word and does `change` to the identifier or to its statement. */
export function toy(
  id: string,
  word: string,
  change: (edit: EditBuilder, node: PyNode, statement: PyNode) => Fix | Refusal | Advice | undefined,
  more: Partial<TransformMeta> = {},
): Transform {
  return {
    meta: metaOf(id, more),
    prefilter: [word],
    *detect(module) {
      for (const node of module.at(word))
        if (node.text === word) yield { node, message: `${word} costs memory` };
    },
    fix: (site, edit) =>
      change(edit, site.node, statementOf(site.node)) ?? edit.done(`Change ${word}`, new Proof()),
  };
}

export function engineOf(...transforms: readonly Transform[]): Engine {
  const knownIds = new Set(transforms.map((transform) => transform.meta.id));
  return createEngine({ parser, transforms, knownIds, optionsFor: () => ({}) });
}

export function fileOf(text: string, path = 'train.py'): SourceFile {
  return { path, source: { text, encoding: 'utf-8', bom: false } };
}
