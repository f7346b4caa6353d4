import { methodNamed } from '../../src/semantic/definitions.js';
import type { PyModule } from '../../src/semantic/module.js';
import { enclosingClass, enclosingFunction, statementOf } from '../../src/semantic/statements.js';
import { ownsItsLines } from '../../src/syntax/layout.js';
import type { PyNode } from '../../src/syntax/node.js';
import { modelLoad } from '../../src/torch/huggingface/pretrained.js';
import { moduleKind } from '../../src/torch/module/modules.js';

/** `self.model = AutoModel.from_pretrained(…)` of a module whose `forward` runs it. */
export interface WrappedModel {
  readonly statement: PyNode;
  /** `self.model` */
  readonly target: PyNode;
  readonly value: PyNode;
  readonly className: string;
}

/** A look at the text: false only where no such module is. */
export function mayWrapModel(text: string): boolean {
  return (
    /\bdef forward\b/.test(text) &&
    /\bself\.\w+(?:\s*:[^=\n]+)?\s*=[^=\n]*\bfrom_(?:pretrained|config)\b/.test(text)
  );
}

/** Models of transformers that a module of the file wraps, where another file of the project differentiates. */
export function wrappedModels(module: PyModule): readonly WrappedModel[] {
  const found = ['.from_pretrained(', '.from_config(']
    .flatMap((literal) => module.at(literal))
    .flatMap((node) => {
      const call = node.parent?.parent;
      if (call?.type !== 'call' || modelLoad(module, call) === undefined) return [];
      return wrappedBy(module, statementOf(call)) ?? [];
    });
  if (found.length === 0) return [];
  const trains = module.around.summaries({ word: 'backward', beside: [] }, differentiates);
  return trains?.some((does) => does) ? found : [];
}

function wrappedBy(module: PyModule, statement: PyNode): WrappedModel | undefined {
  const assignment = statement.named[0];
  const target = assignment?.type === 'assignment' ? assignment.left : undefined;
  const value = assignment?.right;
  const init = enclosingFunction(statement);
  const owner = init && enclosingClass(init);
  if (target?.type !== 'attribute' || value === undefined || owner === undefined) return undefined;
  if (init?.name?.text !== '__init__' || !ownsItsLines(module, statement)) return undefined;
  if (!/^self\.\w+$/.test(target.text) || moduleKind(module, owner).isModule !== 'yes') return undefined;
  const forward = methodNamed(module, owner, 'forward');
  const run = forward === undefined ? '' : module.codeOf(forward);
  const isRun = run.includes(`${target.text}(`) && !/no_grad|inference_mode/.test(run);
  const isFrozen = /requires_grad|\.eval\(\)/.test(module.codeOf(owner));
  return isRun && !isFrozen ? { statement, target, value, className: owner.name?.text ?? '' } : undefined;
}

function differentiates(alone: PyModule): boolean {
  return alone.mentions(/\.backward\s*\(/);
}
