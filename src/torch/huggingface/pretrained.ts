import { ancestryOf, definitionBehind } from '../../semantic/definitions.js';
import { calledPath, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { remembered } from '../../semantic/remembered.js';
import { isBoundByHand } from '../../syntax/bound-name.js';
import { someBefore, startOfRun } from '../../syntax/code-text.js';
import type { Glimpse } from '../../syntax/glimpse.js';
import type { PyNode } from '../../syntax/node.js';

/** PyTorch models of transformers: `AutoModelForCausalLM`, `LlamaModel`, `CLIPTextModelWithProjection`; no configs, no tokenizers. */
const MODEL_CLASS = /^(?!TF|Flax)\w*(?:Model(?:With\w+)?|For[A-Z]\w*|PreTrainedModel)$/;
/** A method of one of these names may load a model. */
export const LOADERS: ReadonlySet<string> = new Set(['from_pretrained', 'from_config', '_from_config']);

/** A call that makes a transformers model, as the imports prove. */
export interface ModelLoad {
  readonly call: PyNode;
  /** `AutoModelForCausalLM`; for a class of the file, the library's class that it derives from. */
  readonly className: string;
  readonly method: string;
  /** The same-file class that derives from the library's, if that is what is loaded. */
  readonly own: PyNode | undefined;
}

export const modelLoad = remembered((module: PyModule, call: PyNode): ModelLoad | undefined => {
  const callee = call.function;
  const method = callee?.type === 'attribute' ? callee.attribute?.text : undefined;
  const receiver = callee?.object;
  if (method === undefined || receiver === undefined || !LOADERS.has(method)) return undefined;
  const className = modelClass(qualifiedName(module, receiver));
  if (className !== undefined) return { call, className, method, own: undefined };
  const own = definitionBehind(module, receiver);
  if (own?.type !== 'class_definition') return undefined;
  const { imported, classes } = ancestryOf(module, own);
  const base = imported.map(modelClass).find((name) => name !== undefined);
  const overrides = classes.some((each) => module.scopeOf(each).has(method));
  return base === undefined || overrides ? undefined : { call, className: base, method, own };
});

/** `transformers.AutoModel.from_pretrained` */
export function loadsModel(path: string): boolean {
  const at = path.lastIndexOf('.');
  return LOADERS.has(path.slice(at + 1)) && modelClass(path.slice(0, at)) !== undefined;
}

function modelClass(path: string | undefined): string | undefined {
  const parts = path?.split('.') ?? [];
  const name = parts.at(-1) ?? '';
  return parts.length > 1 && parts[0] === 'transformers' && MODEL_CLASS.test(name) ? name : undefined;
}

const LOADING = /\.[\s\\]*(?:from_pretrained|_?from_config)\b/g;
const TRANSFORMERS = /(?:\b(?:from|import)[\s\\]+|,[\s\\]*)transformers\b/;

/** What stands before the name where it is imported: `>>> from transformers`, as documentation has it, is no statement. */
const IMPORTING = /(?:(?:^|[;:\r\n])[ \t\f]*(?:from|import)[\s\\]+|,[\s\\]*|(?:^|[\r\n])[\s\\]*)$/;

/** Whether the code may name anything of transformers. */
function mayKnowTransformers(glimpse: Glimpse): boolean {
  return (
    someBefore(glimpse.text, 'transformers', IMPORTING) &&
    glimpse.stretchesWith('transformers').some((code) => TRANSFORMERS.test(code))
  );
}

/** Whether a file may load a model in a stretch that suits. */
export function mayLoadAnyModel(glimpse: Glimpse, suits: (code: string) => boolean = () => true): boolean {
  return (
    glimpse.memo(mayKnowTransformers) &&
    glimpse
      .stretchesWith('from_pretrained', 'from_config')
      .some((code) => suits(code) && mayLoadModel(glimpse, code))
  );
}

/** Whether a stretch of a file may load a model, going by the word before the method. */
export function mayLoadModel(glimpse: Glimpse, code: string): boolean {
  if (!glimpse.memo(mayKnowTransformers)) return false;
  for (const { index } of code.matchAll(LOADING)) {
    const end = startOfRun(code, index, /[\s\\]/);
    const start = startOfRun(code, end, /[\w\u0080-\uffff]/);
    const word = code.slice(start, end);
    if (word === '' || MODEL_CLASS.test(word)) return true;
    // `transformers.AutoTokenizer` is what it is called; a variable may be a class of another name.
    if (code[start - 1] !== '.' && isBoundByHand(word, glimpse)) return true;
  }
  return false;
}

/** `transformers.pipeline(…)`. */
export function isPipeline(module: PyModule, call: PyNode): boolean {
  const path = calledPath(module, call);
  return path !== undefined && /^transformers\.(?:pipelines\.)?pipeline$/.test(path);
}
