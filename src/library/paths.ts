/** What a dotted name says about what it names, where a family of names has no end: classes, makers of models, datasets. */

/** What a call of this gives is a model of torch. */
export function isModelMaker(path: string): boolean {
  return isModuleClass(path) || isLibraryModel(path);
}

/** The same, and one with many layers. */
export function isLibraryModel(path: string): boolean {
  return (
    /^torchvision\.models\.(?:\w+\.)*[a-z]\w*$/.test(path) ||
    /^timm\.(?:models\.)?create_model$/.test(path) ||
    /^(?:transformers|diffusers|trl)\.(?:\w+\.)*(?!EMA|TF[A-Z]|Flax|DataCollator|Model(?:Card|Config|Output)\b)\w*(?:Model\w*|For[A-Z]\w+|LMHead\w*|Autoencoder\w*|ControlNet\w*)(?:\.from_(?:pretrained|config))?$/.test(
      path,
    ) ||
    isPeftModelMaker(path)
  );
}

/** Members of `torch.nn` with a capital that are no modules. */
const NOT_A_MODULE: ReadonlySet<string> = new Set(
  ['Parameter', 'UninitializedParameter', 'Buffer', 'UninitializedBuffer'].map((name) => `torch.nn.${name}`),
);

/** `nn.Module` or one of torch's own subclasses of it, such as `nn.Linear`. */
export function isModuleClass(path: string): boolean {
  return /^torch\.nn\.(?:modules\.(?:\w+\.)?)?[A-Z]\w*$/.test(path) && !NOT_A_MODULE.has(path);
}

/** A type of tensors, which makes one: `torch.FloatTensor(2, 3)`. */
export function isTensorType(path: string): boolean {
  return /^torch\.(?:cuda\.)?(?:BFloat16|Bool|Byte|Char|Double|Float|Half|Int|Long|Short)?Tensor$/.test(path);
}

/** peft's `prepare_model_for_kbit_training`, from wherever in the package it is imported. */
export function isKbitPreparation(path: string): boolean {
  return /^peft\.(?:\w+\.)*prepare_model_for_kbit_training$/.test(path);
}

/** The same, or what it was called before peft 0.10: both checkpoint the blocks of a quantized model unless they are told not to. */
export function preparesQuantized(path: string): boolean {
  return isKbitPreparation(path) || /^peft\.(?:\w+\.)*prepare_model_for_int8_training$/.test(path);
}

/** What puts adapters of peft into its first argument. */
export function isPeftModelMaker(path: string): boolean {
  return /^peft\.(?:\w+\.)*(?:get_peft_model|Peft(?:Mixed)?Model(?:For\w+)?\.from_pretrained)$/.test(path);
}

/** What loads a model by unsloth, and what puts adapters into it. */
export const UNSLOTH_LOADS = /^unsloth\.(?:\w+\.)*Fast\w*Model\.from_pretrained$/;
export const UNSLOTH_ADAPTS = /^unsloth\.(?:\w+\.)*Fast\w*Model\.get_peft_model$/;

/** Optimizers of other packages than torch. */
export const OTHER_OPTIMIZERS =
  /^(?:transformers\.(?:optimization\.)?(?:AdamW|Adafactor)|bitsandbytes\.optim\.(?:\w+\.)*\w+|apex\.optimizers\.\w+|deepspeed\.ops\.adam\.\w+)$/;

/** What a program that runs on a GPU finds; in which half precision it trains changes no size. */
export const TRUE_ON_GPU: ReadonlySet<string> = new Set([
  'torch.cuda.is_available',
  'torch.cuda.is_bf16_supported',
  'unsloth.is_bfloat16_supported',
]);

/** They say which devices there are, or name one, and change nothing. */
export const NAMES_DEVICE: ReadonlySet<string | undefined> = new Set([
  'torch.device',
  'torch.cuda.current_device',
  'torch.cuda.is_available',
  'torch.cuda.device_count',
]);

/** What reads a text as numbers, texts and truths, and as containers of these. */
export const READS_SETTINGS: ReadonlySet<string | undefined> = new Set([
  ...[
    'json.load',
    'json.loads',
    'ast.literal_eval',
    'toml.load',
    'toml.loads',
    'tomllib.load',
    'tomllib.loads',
  ],
  ...['load', 'load_all', 'safe_load', 'safe_load_all', 'full_load'].map((name) => `yaml.${name}`),
]);

/** They hold by name what they are given by name. */
export const NAMESPACES: ReadonlySet<string | undefined> = new Set([
  'argparse.Namespace',
  'types.SimpleNamespace',
]);

/** They leave settings that they are handed as these are, and hand them to nobody. */
export const TAKES_SETTINGS =
  /^(?:(?:mlflow|omegaconf|pprint|tensorboardX|toml|torchvision|wandb|yaml)\.|torch\.(?!multiprocessing\.|utils\.checkpoint\.|func\.|vmap$|compile$))/;

/** Packages that wrap, shard, average or load networks: what they make of one computes what it computes, and no more. */
export const WRAPPERS = /^(?:accelerate|ema_pytorch|horovod|peft|sentence_transformers|trl)\b/;

/** What has `backward` among its names. */
export const DIFFERENTIATING_OWNERS: ReadonlySet<string> = new Set([
  ...['torch.Tensor', 'torch.autograd', 'torch.autograd.Variable', 'torch.func', 'torch.autograd.functional'],
  ...['functorch', 'torch._tensor.Tensor'],
]);

/** They make an object that has what they are given, by the names that they are given it by. */
export const MAKES_RECORD: ReadonlySet<string> = new Set([
  ...['argparse.Namespace', 'types.SimpleNamespace', 'dataclasses.replace', 'copy.replace'],
  ...['collections.OrderedDict', 'collections.defaultdict', 'collections.UserDict', 'collections.ChainMap'],
]);
