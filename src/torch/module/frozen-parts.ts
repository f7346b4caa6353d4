import { importsPackage } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { ask, type Question } from '../../semantic/question.js';
import { keywordValue } from '../../semantic/statements.js';
import { modelLoad } from '../huggingface/pretrained.js';

/** What the re-entrant form leaves without gradient begins to learn in the other one. */
function begins({ path }: PyModule): Question {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return ask(
    'block-inputs',
  )`Does some input of each block that \`${name}\` checkpoints require a gradient (where none does, as in a vision tower with adapters, what is trained there begins to learn)?`;
}

/**
 * Why the choice of the non-re-entrant form may change what is learned: parameters are frozen, so that a block may have no input
 * that requires a gradient. Undefined where nothing in the project freezes any, and where adapters are in a model of text
 * alone whose embeddings give one.
 */
export function mayLearnMore(module: PyModule, givesInputs: boolean): Question | undefined {
  if (module.mentions(FREEZES)) return begins(module);
  if (importsPackage(module, 'peft'))
    return (givesInputs || module.mentions(GIVES_INPUTS)) && loadsOnlyText(module)
      ? undefined
      : begins(module);
  const elsewhere = [
    module.around.summaries({ word: 'peft', beside: [] }, importsPeft),
    module.around.summaries({ word: 'requires_grad', beside: [] }, freezes),
    module.around.summaries({ word: 'requires_grad_', beside: [] }, freezes),
  ];
  return elsewhere.every((files) => files?.every((does) => !does)) ? undefined : begins(module);
}

const FREEZES = /\brequires_grad(?:\s*=\s*(?!=|True\b)|_\(\s*(?!\)|True\b))/;
/** What makes the embeddings require a gradient. */
const GIVES_INPUTS = /\.enable_input_require_grads\s*\(|\bprepare_model_for_kbit_training\s*\(/;

function importsPeft(module: PyModule): boolean {
  return importsPackage(module, 'peft');
}

function freezes(module: PyModule): boolean {
  return module.mentions(FREEZES);
}

const TEXT_CLASS =
  /^AutoModelFor(?:CausalLM|MaskedLM|MultipleChoice|QuestionAnswering|Seq2SeqLM|SequenceClassification|TokenClassification)$/;

/** Whether every model that the file loads is one of text, with code of the library itself. */
function loadsOnlyText(module: PyModule): boolean {
  const loads = module.at('from_pretrained').flatMap(({ parent: callee }) => {
    const call = callee?.parent;
    return (call?.type === 'call' && modelLoad(module, call)) || [];
  });
  return (
    loads.length > 0 &&
    loads.every(({ call, className }) => {
      const remote = keywordValue(call, 'trust_remote_code');
      return TEXT_CLASS.test(className) && (remote === undefined || remote.type === 'false');
    })
  );
}
