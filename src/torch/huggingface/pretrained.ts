import { ancestryOf, definitionBehind } from '../../semantic/definitions.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import type { PyNode } from '../../syntax/node.js';

/** PyTorch models of transformers: `AutoModelForCausalLM`, `LlamaModel`, `CLIPTextModelWithProjection`; no configs, no tokenizers. */
const MODEL_CLASS = /^(?!TF|Flax)\w*(?:Model(?:With\w+)?|For[A-Z]\w*|PreTrainedModel)$/;
const LOADERS: ReadonlySet<string> = new Set(['from_pretrained', 'from_config', '_from_config']);

/** A call that makes a transformers model, as the imports prove. */
export interface ModelLoad {
  readonly call: PyNode;
  /** `AutoModelForCausalLM`; for a class of the file, the library's class that it derives from. */
  readonly className: string;
  readonly method: string;
  /** The same-file class that derives from the library's, if that is what is loaded. */
  readonly own: PyNode | undefined;
}

export function modelLoad(module: PyModule, call: PyNode): ModelLoad | undefined {
  const callee = call.field('function');
  const method = callee?.type === 'attribute' ? callee.field('attribute')?.text : undefined;
  const receiver = callee?.field('object');
  if (method === undefined || receiver === undefined || !LOADERS.has(method)) return undefined;
  const className = modelClass(qualifiedName(module, receiver));
  if (className !== undefined) return { call, className, method, own: undefined };
  const own = definitionBehind(module, receiver);
  if (own?.type !== 'class_definition') return undefined;
  const { imported, classes } = ancestryOf(module, own);
  const base = imported.map(modelClass).find((name) => name !== undefined);
  const overrides = classes.some((each) => module.scopeOf(each).has(method));
  return base === undefined || overrides ? undefined : { call, className: base, method, own };
}

function modelClass(path: string | undefined): string | undefined {
  const parts = path?.split('.') ?? [];
  const name = parts.at(-1) ?? '';
  return parts.length > 1 && parts[0] === 'transformers' && MODEL_CLASS.test(name) ? name : undefined;
}

/** `transformers.pipeline(…)`. */
export function isPipeline(module: PyModule, call: PyNode): boolean {
  const callee = call.field('function');
  const path = callee && qualifiedName(module, callee);
  return path !== undefined && /^transformers\.(?:pipelines\.)?pipeline$/.test(path);
}

/** A call that places the weights of a model on devices: a loader of any Hugging Face library, or accelerate's own. */
export function placesModel(module: PyModule, call: PyNode): boolean {
  const callee = call.field('function');
  const path = (callee && qualifiedName(module, callee)) ?? '';
  return (
    modelLoad(module, call) !== undefined ||
    /^(?:transformers|diffusers|peft)\..*\.from_pretrained$/.test(path) ||
    /^accelerate\.(?:\w+\.)*(?:infer_auto_device_map|load_checkpoint_and_dispatch)$/.test(path)
  );
}
