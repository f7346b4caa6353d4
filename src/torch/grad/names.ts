/** What names promise, where the code behind them is not in the file. */

function anyOf(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), 'i');
}

/** A call of this name trains, attacks or differentiates. */
export const TRAINS = anyOf(
  /^_?(?:backprop|minimi[sz]e)(?:$|_)|^_?(?:run|start|do|begin|launch|continue|resume)_(?:pre)?(?:train|fit|fine_?tun)/,
  /^_?(?:train|fit|finetune|fine_tune|pretrain|meta_train|attack|perturb|fgsm|pgd|adversar|optimi[sz]e|adapt|learn|saliency|hessian|jacobian|fisher|grad|gradient|gradcam|integrated_?gradients|make_dot|attribute)(?:$|_(?!load|data|transform|set|split|iter|time|sampler|log|acc|loss|metric|path|dir))/,
  /^_?(?:update|step|tune|refine)_(?:model|net|network|weights?|param\w*|policy|critic|actor|generator|discriminator|g|d)$/,
  /_(?:grads?|gradients?|gradient_penalty|attack|finetune)$|scaler$/,
);

/** A call of this name brings values of all processes together and does nothing else with them. */
export const COLLECTS =
  /^(?:gather\w*|all_gather\w*|all_reduce|reduce|reduce_\w+|pad_across_processes|nested_\w+)$/;

/** A call of this name may run a training, though it is given nothing that shows it. */
export const MAY_TRAIN =
  /(?:^|_)(?:epochs?|iterations?|steps?|update|run|loop|go|execute|launch|start|improve|solve|main)(?:$|_(?!lr|log|time))/;

/** What is stepped, run or updated without training anything. */
export const RUNS_OTHERWISE =
  /(?<![a-z])(?:sched|env|p?bar(?![a-z])|prof|timer|track|log|sampl|metric|sim(?![a-z])|game|world|sess|thread|process|ema(?![a-z])|clock|server|app(?![a-z])|wandb|counter|eval|val(?![a-z])|valid|test)/i;

/** Functions that take a network and only wrap, copy, store, describe or measure it. */
export const TAKES_NETWORK =
  /^(?:DataParallel|DistributedDataParallel|DDP|FSDP|unwrap_model|prepare|prepare_model|de_parallel|deepcopy|copy|save\w*|load\w*|print|len|isinstance|hasattr|getattr|callable|type|id|iter|next|list|summary|info|log|count_\w+|num_params\w*|get_(?:n_params|num_\w+|device|parameter_\w+)|freeze\w*|is_parallel|export|profile|named_parameters|set_eval\w*)$/;

/** Methods that keep what they are given. */
export const KEEPS: ReadonlySet<string> = new Set([
  'add',
  'append',
  'appendleft',
  'enqueue',
  'extend',
  'insert',
  'push',
  'put',
  'put_nowait',
  'send',
  'setdefault',
  'store',
  'update',
]);
