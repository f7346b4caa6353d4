/** The dotted names of losses. */

const functional = (names: readonly string[]): readonly string[] =>
  names.map((name) => `torch.nn.functional.${name}`);

/** Losses that give one number unless `reduction="none"`, and how many positional arguments come before the options. */
export const LOSS_FUNCTIONS: ReadonlyMap<string, number> = new Map([
  ...functional([
    'binary_cross_entropy',
    'binary_cross_entropy_with_logits',
    'cross_entropy',
    'gaussian_nll_loss',
    'nll_loss',
  ]).map((path): [string, number] => [path, 3]),
  ...functional([
    'hinge_embedding_loss',
    'huber_loss',
    'kl_div',
    'l1_loss',
    'mse_loss',
    'multi_margin_loss',
    'multilabel_margin_loss',
    'multilabel_soft_margin_loss',
    'poisson_nll_loss',
    'smooth_l1_loss',
    'soft_margin_loss',
  ]).map((path): [string, number] => [path, 2]),
  ...functional([
    'cosine_embedding_loss',
    'ctc_loss',
    'margin_ranking_loss',
    'triplet_margin_loss',
    'triplet_margin_with_distance_loss',
  ]).map((path): [string, number] => [path, 4]),
]);

/** Modules of the same losses; their first positional argument is a weight or margin. */
export const LOSS_MODULES: ReadonlySet<string> = new Set(
  [
    'BCELoss',
    'BCEWithLogitsLoss',
    'CTCLoss',
    'CosineEmbeddingLoss',
    'CrossEntropyLoss',
    'GaussianNLLLoss',
    'HingeEmbeddingLoss',
    'HuberLoss',
    'KLDivLoss',
    'L1Loss',
    'MSELoss',
    'MarginRankingLoss',
    'MultiLabelMarginLoss',
    'MultiLabelSoftMarginLoss',
    'MultiMarginLoss',
    'NLLLoss',
    'PoissonNLLLoss',
    'SmoothL1Loss',
    'SoftMarginLoss',
    'TripletMarginLoss',
    'TripletMarginWithDistanceLoss',
  ].flatMap((name) => [`torch.nn.${name}`, `torch.nn.modules.loss.${name}`]),
);

/** The function, and the module that is made once and called. */
export const CROSS_ENTROPY: ReadonlySet<string> = new Set([
  'torch.nn.functional.cross_entropy',
  'torch.nn.CrossEntropyLoss',
  'torch.nn.modules.loss.CrossEntropyLoss',
]);
