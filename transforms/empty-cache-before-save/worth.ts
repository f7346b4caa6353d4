import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { contextManagers, enclosingWiths, methodName } from '../../src/semantic/statements.js';
import { waysGiven } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';
import { type ModelSave, mayUseGpu, passedAbove } from './saving.js';

/** What makes new tensors of the weights: whole ones of shards, merged ones, or copies on the host. */
const COPIES =
  /\.cpu\(\)|\.to\(\s*["']cpu|merge_and_unload|merge_adapter|full_state_dict|get_model_state_dict|get_state_dict\(|gather|consolidate|offload_to_cpu/;
/** Contexts in which `state_dict()` is whole. */
const GATHERING = /state_dict_type|summon_full_params|GatheredParameters/;
/** How a program starts another one. */
const STARTS =
  /^(?:subprocess\.(?:run|Popen|call|check_call|check_output)|os\.(?:system|popen|exec\w+|spawn\w+))$/;

/**
 * What is given back is of use to someone: a pass on the GPU ran before, here, and the save itself needs memory or another
 * program gets it. Elsewhere the program mostly ends behind the save, and all of it is free.
 */
export function isWorthACommit(module: PyModule, save: ModelSave): boolean {
  if (!passedAbove(module, save)) return false;
  return mayUseGpu(module, save) === 'yes' && (copies(module, save) || startsAnother(module, save.statement));
}

/** A library's own save gathers shards and copies tensor by tensor; `torch.save` writes what it is given. */
function copies(module: PyModule, { statement, saved }: ModelSave): boolean {
  const call = statement.named[0];
  const method = call && methodName(call);
  const isOfLibrary = method === 'save_pretrained' || method === 'save_model';
  if (isOfLibrary && !module.memo(makesAdapters, module)) return true;
  if (
    enclosingWiths(statement)
      .flatMap(contextManagers)
      .some(({ text }) => GATHERING.test(text))
  )
    return true;
  if (COPIES.test(saved.text)) return true;
  return [...saved.walk()].some(
    (node) =>
      node.type === 'identifier' &&
      waysGiven(module, node).some(
        (each) =>
          each.kind === 'value' &&
          (COPIES.test(each.value.text) ||
            enclosingWiths(each.value)
              .flatMap(contextManagers)
              .some(({ text }) => GATHERING.test(text))),
      ),
  );
}

/** What makes adapters, by the end of its name: a library's save writes these alone then, which are small. */
const ADAPTERS: readonly string[] = ['get_peft_model', 'PeftModel', 'inject_adapter_in_model'];

function makesAdapters(module: PyModule): boolean {
  const isGiven = module
    .wordsSet('peft_config')
    .some(({ parent }) => parent?.type === 'keyword_argument' && parent.value?.type !== 'none');
  if (isGiven) return true;
  return ADAPTERS.some((word) =>
    module.at(word).some((node) => {
      const name = node.parent?.type === 'attribute' && node.parent.attribute === node ? node.parent : node;
      return node.type === 'identifier' && qualifiedName(module, name)?.startsWith('peft.') === true;
    }),
  );
}

/** Another program is started further down in the same function or script. */
function startsAnother(module: PyModule, statement: PyNode): boolean {
  const owner = statement.closest('function_definition') ?? module.root;
  return ['subprocess', 'os.'].some((word) =>
    module.at(word).some((node) => {
      const call = node.closest('call');
      const callee = call?.function;
      if (call === undefined || callee === undefined || call.start < statement.end) return false;
      return owner.contains(call) && STARTS.test(qualifiedName(module, callee) ?? '');
    }),
  );
}
