/** What names promise, where the code behind them is not in the file. */

/** A call of this name trains, attacks or differentiates. */
export const TRAINS =
  /^_?(?:train|fit|finetune|fine_tune|pretrain|backprop|attack|perturb|fgsm|pgd|adversar|optimi[sz]e|adapt|saliency|hessian|jacobian|fisher|grad(?!io|_cam_image)|gradient|gradcam|integrated_gradients|meta_train)(?:$|_(?!load|data|transform|set|split|iter|time|sampler|log|acc|loss|metric|path|dir|step_count))|_(?:grads?|gradients?|gradient_penalty|attack|finetune)$/i;

/** A call of this name looks at a value and hands back a number, a picture or nothing: losses, metrics, logs, plots, writers. */
export const LOOKS =
  /loss|crit|acc(?:uracy)?(?:$|_)|metric|score|(?:^|_)(?:iou|dice|psnr|ssim|bleu|rouge|mse|mae|rmse|bce|ce|nll|kl|auc|map|f1|wer|cer|epe|pck|recall|precision)(?:$|_|\d)|error|entropy|perplexity|distance|similarity|^(?:log|_log|print|info|debug|warning|write|save|plot|show|draw|imshow|imsave|imwrite|visuali[sz]e|display|report|dump|format|add_(?:scalars?|images?|histogram|text|figure|video|audio|batch)|set_(?:postfix|description)|hist|scatter)|^(?:make_grid|denorm\w*|unnorm\w*|to_pil\w*|tensor2\w*|tensor_to_\w*|to_(?:numpy|np|cpu|list|device)|as_numpy|reduce_\w+|all_reduce|all_gather|gather\w*|pad_across_processes|nested_\w+|decode_\w+|batch_decode|one_hot|nms|non_max_suppression|pred(?:ict)?_to_\w+)$/i;

/** A value of this name is a network: calling it is a forward. */
export const NETWORK =
  /(?:^|_|\b)(?:model|net|network|encoder|decoder|generator|discriminator|backbone|head|extractor|embedding|embedder|classifier|detector|actor|critic|policy|vae|unet|gan|teacher|student|module|transformer|lstm|rnn|gru|bert|resnet|netg|netd|g|d|g_\w+|d_\w+)\d*(?:$|_|\b)|(?:model|net|coder|generator|discriminator)$/i;

/** Methods of a network that run it or look at it, and neither train nor differentiate. */
export const NETWORK_METHODS: ReadonlySet<string> = new Set([
  'add_module',
  'apply',
  'bfloat16',
  'buffers',
  'children',
  'cpu',
  'cuda',
  'decode',
  'double',
  'embed',
  'encode',
  'eval',
  'extract_features',
  'float',
  'forward',
  'forward_features',
  'generate',
  'get_buffer',
  'get_parameter',
  'get_submodule',
  'half',
  'inference',
  'load_state_dict',
  'modules',
  'named_buffers',
  'named_children',
  'named_modules',
  'named_parameters',
  'parameters',
  'predict',
  'register_forward_hook',
  'register_forward_pre_hook',
  'requires_grad_',
  'sample',
  'save_pretrained',
  'share_memory',
  'state_dict',
  'to',
  'train',
]);

/** Functions that take a network and only wrap, copy, store, describe or measure it. */
export const TAKES_NETWORK =
  /^(?:DataParallel|DistributedDataParallel|DDP|FSDP|unwrap_model|de_parallel|deepcopy|copy|save\w*|load\w*|print|len|isinstance|hasattr|getattr|callable|type|id|iter|next|list|summary|info|log|count_\w+|num_params\w*|get_(?:n_params|num_\w+|device|parameter_\w+)|freeze\w*|is_parallel|export|profile|named_parameters|set_eval\w*)$/;

/** A value of this name is data or a setting: it carries no gradient. */
export const DATA =
  /load|data|batch|iter|(?:^|_)(?:dl|val|test|valid|eval|bs|n|i|j|k|x|y|t|lr|eps|args?|opts?|cfg|conf|config|hparams|params_dict|device|dtype|epochs?|steps?|rank|world|split|mode|limit|topk|root|fs)(?:$|_)|dataset|sampl|target|label|ground_?truth|image|img|token|name|path|dir|file|writer|logger|prefix|thresh|size|count|num|len|index|idx|class|vocab|header|freq|interval|seed|batches_done/i;

/** A value of this name collects numbers for a report. */
export const METER =
  /meter|metric|logger|evaluator|(?:^|_)(?:acc|avg|auc|map|f1|top\d?|bar|pbar|stats?)(?:$|_|\d)|loss|score|tracker|writer|wandb|tqdm|progress|coco|results?_?log|summary/i;

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
