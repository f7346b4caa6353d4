import { givesModule, packageOf, row } from '../../src/library/library.js';
import { PLAIN_BASES, WRAPS_MODULE } from '../../src/library/names.js';
import { isModuleClass } from '../../src/library/paths.js';
import { type Answer, all } from '../../src/semantic/answer.js';
import { isAnywhere } from '../../src/semantic/anywhere.js';
import { ancestryOf, definitionNamed } from '../../src/semantic/definitions.js';
import { definedElsewhere, type Elsewhere, lineageOf } from '../../src/semantic/elsewhere.js';
import { setsPart } from '../../src/semantic/given-away.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import { ingredientsOf } from '../../src/semantic/ingredients.js';
import type { PyModule } from '../../src/semantic/module.js';
import { within } from '../../src/semantic/stars.js';
import { argumentsOf, decoratorsOf, methodName } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { moduleKind } from '../../src/torch/module/modules.js';
import { keepingClasses } from './kept-settings.js';
import { parameterNode, takerOf } from './parameter-given.js';

/** Models whose state is sharded, quantized or not there yet, and parts that load in their own way. */
const OWN_WAYS =
  /FullyShardedDataParallel|fully_shard|\bFSDP\b|deepspeed|ShardedTensor|\bDTensor\b|DeviceMesh|init_device_mesh|bitsandbytes|load_in_[48]bit|\bquantization\.(?!(?:items|keys|values|get)\()[a-z]|quantization_?(?:config|bits?\b)|quantize_(?:dynamic|fx|per_|model)|\bquantize_\(|prepare_qat|\bnn\.(?:quantized|qat|intrinsic)|torchao|auto_?gptq|init_empty_weights|(?:device\s*=|device\(|\.to\(|to_empty\()\s*(?:device\s*=\s*)?["']meta["']|load_state_dict_(?:pre|post)_hook|_extra_state\b|\.load_state_dict\s*=(?!=)|(?<!\b(?:has|get)attr\([\w.]+,\s*)["']load_state_dict["']/im;

/** Whether nothing in some code stands for a model that does its own thing with what it loads. */
export function loadsPlainly(code: string): boolean {
  return !OWN_WAYS.test(code);
}

/** The modules for quantization that a file imports, or imports from: those of the project are looked into. */
export function quantizersOf(alone: PyModule): readonly string[] {
  const named = alone.words('import').flatMap(({ parent: statement }) => {
    const from = statement?.type === 'import_from_statement' ? statement.module_name : undefined;
    const names = statement?.named.flatMap((each) => (each === from ? [] : [(each.name ?? each).text])) ?? [];
    if (from === undefined) return statement?.type === 'import_statement' ? names : [];
    return names.map((name) => (/quantization/i.test(from.text) ? from.text : within(from.text, name)));
  });
  return named.filter((dotted) => /quantization/i.test(dotted));
}

/** Names that a class binds where it, or what it makes, loads in its own way. */
const OWN_LOADING = [
  'load_state_dict',
  '_load_from_state_dict',
  'set_extra_state',
  '__new__',
  '__getattribute__',
];

/** Whether instances of a class copy what they load, as `nn.Module` and torch's optimizers do. */
export function isCopyingClass(module: PyModule, classNode: PyNode): Answer {
  const here = ancestryOf(module, classNode).classes.map((node) => ({ module, node }));
  const { elsewhere, imported, unknown } = lineageOf(module, classNode);
  const classes = [...here, ...elsewhere];
  if (unknown || !imported.every((path) => loadsAsTorchDoes(path) || PLAIN_BASES.has(path))) return 'unknown';
  if (moduleKind(module, classNode).isModule !== 'yes' && !imported.some(copiesLoadedState)) return 'unknown';
  if (classes.some((each) => keepingClasses(each.module.alone).includes(each.node))) return 'unknown';
  return all(classes.map(leavesLoadingAlone));
}

/**
 * Whether what an expression makes has no part that loads in its own way: as far as the project goes, and where that ends,
 * in packages that load as torch does.
 */
export function hasCopyingParts(module: PyModule, making: PyNode): Answer {
  const made = ingredientsOf(module, making);
  if (made === undefined || !made.strangers.every(loadsAsUsual) || made.handed.some(mayBecomePart))
    return 'unknown';
  // `making.KIND = Other`
  if (made.variables.some(({ module: home, node }) => isAnywhere(home, node.text, setsPart)))
    return 'unknown';
  return all(made.definitions.map(leavesLoadingAlone));
}

/** What is given to a function of torch, or of a package like it, stays outside unless that is made of modules. */
function mayBecomePart({ module, node }: Elsewhere): boolean {
  let argument = node;
  while (argument.parent !== undefined && argument.parent.type !== 'argument_list')
    argument = argument.parent;
  const call = argument.parent?.parent;
  const callee = call?.function;
  if (call === undefined || callee === undefined) return true;
  const path = qualifiedName(module, callee);
  if (path === undefined) {
    if (givesModule(methodName(call) ?? '')) return false;
    return !takesNumber(definitionNamed(module, callee), module, argument);
  }
  if (WRAPS_MODULE.has(path)) return argumentsOf(call)[0] === argument;
  if (isHarmless(path)) return row(path)?.is === 'container';
  const found = definedElsewhere(module, path);
  return found === undefined || !takesNumber(found.node, found.module, argument);
}

/**
 * Whether a class or function takes an argument for a number, or for settings: it computes with it or makes a layer without
 * parts with it, or reads nothing but attributes of it.
 */
function takesNumber(definition: PyNode | undefined, module: PyModule, argument: PyNode): boolean {
  const taker = definition && takerOf(definition, module);
  const name = taker && parameterNode(taker.node, argument, taker.skipped)?.text;
  if (taker === undefined || name === undefined) return false;
  const scope = module.scopeOf(taker.node);
  if (module.writes(scope, name).length > 1) return false;
  const reads = module.reads(scope, name);
  if (reads.length > 0 && reads.every(isAskedForParts)) return true;
  return reads.some(({ parent }) => {
    if (parent?.type === 'binary_operator') return parent.operator?.text !== '%';
    const callee = parent?.type === 'argument_list' ? parent.parent?.function : undefined;
    const path = callee && qualifiedName(module, callee);
    return path !== undefined && isModuleClass(path) && row(path)?.is !== 'container';
  });
}

/** `settings.width`, `settings is None`; a call of a method may hand it on. */
function isAskedForParts(read: PyNode): boolean {
  const { parent } = read;
  if (parent?.type === 'comparison_operator') return /\bis\b/.test(parent.text);
  if (parent?.type !== 'attribute' || parent.object !== read) return false;
  return parent.parent?.type !== 'call' || parent.parent.function !== parent;
}

function leavesLoadingAlone({ module, node }: Elsewhere): Answer {
  const isOwn =
    node.type === 'class_definition' &&
    (OWN_LOADING.some((name) => module.scopeOf(node).has(name)) ||
      hasMetaclass(node) ||
      module.mentions(RUNS_TEXT));
  const isDecorated =
    node.type === 'class_definition' && decoratorsOf(node).some(({ text }) => text !== 'dataclass');
  return isOwn || isDecorated || !loadsPlainly(module.codeOf(node)) ? 'unknown' : 'yes';
}

/** `exec("Net." + verb + "_state_dict = take")` */
const RUNS_TEXT = /(?<![.\w])exec\s*\(/;

function hasMetaclass(classNode: PyNode): boolean {
  return (classNode.superclasses?.named ?? []).some(({ type }) => type === 'keyword_argument');
}

/** Code of others in a folder of the project, which is not looked into. */
const VENDORED = /(?:^|\.)(?:third_?party|3rd_?party|_?vendor(?:ed)?)(?:\.|$)/i;

/** Optimizers of this package load in their own way. */
export function hasOwnOptimizers(path: string): boolean {
  return packageOf(path)?.ownLoading === 'optimizers';
}

/** Modules of this package do so where they are asked to have a state that is saved. */
export function mayOwnStates(path: string): boolean {
  return packageOf(path)?.ownLoading === 'asked';
}

/** `metric.persistent()`, `add_state("seen", zero, persistent=True)` */
export const ASKS_FOR_STATES = /\.persistent\(|["']persistent["']|\bpersistent\s*=\s*(?!False\b)/;

/** What a package of others makes loads as torch's modules and optimizers do, unless the library says that it does not. */
export function loadsAsUsual(path: string): boolean {
  return packageOf(path)?.ownLoading === undefined && !/\.EMA\w*$/.test(path) && !VENDORED.test(path);
}

/** Of torch, or of a package that has no modules, or only such that load as torch's. */
function isHarmless(path: string): boolean {
  const known = packageOf(path);
  return (
    /^torch(?:\.|$)/.test(path) || (known?.harmless === true && !known.ownLoading) || loadsAsTorchDoes(path)
  );
}

/** Of torch, of Python, or of a package that the library has a row of. */
export function isOfKnownLoading(path: string): boolean {
  return isHarmless(path) || PLAIN_BASES.has(path) || packageOf(path) !== undefined;
}

/** What is made or wrapped by a call of this, and copies state into its own tensors, wherever the state is. */
export function copiesLoadedState(path: string): boolean {
  return (
    isModuleClass(path) ||
    /^torch\.optim\.(?:lr_scheduler\.)?[A-Z]\w*$/.test(path) ||
    /^torch\.(?:cuda\.)?amp\.(?:grad_scaler\.)?GradScaler$/.test(path) ||
    /^torchvision\.models\.(?:\w+\.)*[a-z]\w*$/.test(path) ||
    /^timm\.(?:models\.)?create_model$/.test(path) ||
    /^(?:pytorch_)?transformers\.(?:optimization\.)?(?:AdamW|Adafactor|get_\w*schedule\w*)$/.test(path) ||
    /^(?:transformers|diffusers)\.(?:\w+\.)*(?!EMA)\w*(?:Model\w*|For[A-Z]\w+|Autoencoder\w*)(?:\.from_(?:pretrained|config))?$/.test(
      path,
    )
  );
}

/** Classes and functions of packages whose modules take their state as torch's do. */
function loadsAsTorchDoes(path: string): boolean {
  return (
    copiesLoadedState(path) ||
    /^(?:transformers|diffusers|huggingface_hub|timm|pretrainedmodels|efficientnet_pytorch|segmentation_models_pytorch|(?:pytorch_)?lightning|monai\.networks|torch_geometric\.nn|open_clip|clip|sentence_transformers|pytorch_pretrained_bert|vit_pytorch|facenet_pytorch|lpips)\.(?:\w+\.)*(?!EMA)\w+$/.test(
      path,
    )
  );
}
