/** The dotted names of what makes models and wraps them, and of what takes a saved state. */
import { isModuleClass, isPeftModelMaker } from './catalog.js';

export const LR_SCHEDULERS = 'torch.optim.lr_scheduler.';

/** What is made or wrapped by a call of this, and copies state into its own tensors, wherever the state is. */
export function copiesLoadedState(path: string): boolean {
  return (
    isModuleClass(path) ||
    /^torch\.optim\.(?:lr_scheduler\.)?[A-Z]\w*$/.test(path) ||
    /^torch\.(?:cuda\.)?amp\.(?:grad_scaler\.)?GradScaler$/.test(path) ||
    /^torchvision\.models\.(?:\w+\.)*[a-z]\w*$/.test(path) ||
    /^timm\.(?:models\.)?create_model$/.test(path) ||
    /^transformers\.get_\w*schedule\w*$/.test(path) ||
    /^(?:transformers|diffusers)\.(?:\w+\.)*(?!EMA)\w*(?:Model\w*|For[A-Z]\w+|Autoencoder\w*)(?:\.from_(?:pretrained|config))?$/.test(
      path,
    )
  );
}

/** What gives its first argument, a module, back in another form. */
export const WRAPS_MODULE: ReadonlySet<string> = new Set([
  'torch.compile',
  'torch.nn.DataParallel',
  'torch.nn.parallel.DataParallel',
  'torch.nn.parallel.DistributedDataParallel',
  'torch.nn.parallel.distributed.DistributedDataParallel',
]);

/** Classes and functions of packages whose modules take their state as torch's do. */
export function loadsAsTorchDoes(path: string): boolean {
  return (
    copiesLoadedState(path) ||
    /^(?:transformers|diffusers|huggingface_hub|timm|pretrainedmodels|efficientnet_pytorch|segmentation_models_pytorch|(?:pytorch_)?lightning)\.(?:\w+\.)*(?!EMA)\w+$/.test(
      path,
    )
  );
}

/** Methods and functions that take a wrapper, given by others, off a model again. */
export const UNWRAPS: ReadonlySet<string> = new Set(['extract_model_from_parallel', 'unwrap_model']);

/** What a call of this gives is a model of torch. */
export function isModelMaker(path: string): boolean {
  return isModuleClass(path) || isLibraryModel(path);
}

/** The same, and one with many layers. */
export function isLibraryModel(path: string): boolean {
  return (
    /^torchvision\.models\.(?:\w+\.)*[a-z]\w*$/.test(path) ||
    /^timm\.(?:models\.)?create_model$/.test(path) ||
    /^(?:transformers|diffusers|trl)\.(?:\w+\.)*(?!EMA|TF[A-Z]|Flax)\w*(?:Model\w*|For[A-Z]\w+|LMHead\w*|Autoencoder\w*|ControlNet\w*)(?:\.from_(?:pretrained|config))?$/.test(
      path,
    ) ||
    isPeftModelMaker(path)
  );
}

export const ACCELERATOR = 'accelerate.Accelerator';

export const SEQUENTIAL = 'torch.nn.Sequential';
/** Modules that hold the modules they are given. */
export const CONTAINERS: ReadonlySet<string> = new Set(
  ['Sequential', 'ModuleList', 'ModuleDict', 'DataParallel'].flatMap((name) => [
    `torch.nn.${name}`,
    `torch.nn.modules.container.${name}`,
    `torch.nn.parallel.${name}`,
  ]),
);

/** Packages whose base classes run no training by a method that is called on `self` during an evaluation. */
export const FRAMEWORKS =
  /^(?:torch|pytorch_lightning|lightning|transformers|diffusers|unittest|timm|object)\b/;
