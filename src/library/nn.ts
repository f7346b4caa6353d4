/** Layers, losses and containers of `torch.nn`, and what a module can do. */
import { type Facts, type Group, group } from './row.js';

const NN = 'torch.nn.';
const FUNCTIONAL = 'torch.nn.functional.';
const MODULE = 'Module.';
const map: Facts = { is: 'map' };
const weighted: Facts = { is: 'map', weights: true };
const activation: Facts = { is: 'map', weights: false };
const loss = (operands: number): Facts => ({
  gives: 'tensor',
  dtype: 'float',
  shape: 'one',
  storage: 'new',
  loss: operands,
});

export const NN_ROWS: readonly Group[] = [
  group(NN, { ...weighted, lastDimension: { position: 1, keyword: 'out_features' } }, 'Linear'),
  group(NN, { ...weighted, lastDimension: { position: 1, keyword: 'embedding_dim' } }, 'Embedding'),
  group(NN, { ...map, lastDimension: { position: 0, keyword: 'normalized_shape' } }, 'LayerNorm'),
  group(NN, weighted, 'Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d'),
  group(
    NN,
    map,
    'BatchNorm1d BatchNorm2d BatchNorm3d GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d RMSNorm',
  ),
  group(NN, map, 'PReLU'),
  group(
    NN,
    activation,
    'CELU ELU GELU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish',
  ),
  group(
    NN,
    activation,
    'ReLU ReLU6 SELU SiLU Sigmoid Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink',
  ),
  group(NN, map, 'AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AvgPool1d AvgPool2d AvgPool3d'),
  group(
    NN,
    map,
    'ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d ReflectionPad2d ReplicationPad1d',
  ),
  group(NN, map, 'ReplicationPad2d ZeroPad1d ZeroPad2d ZeroPad3d'),
  group(NN, map, 'Flatten Unflatten PixelShuffle PixelUnshuffle Upsample'),
  group(
    NN,
    { ...map, random: true },
    'AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout RReLU',
  ),
  // Not one tensor in, or not one tensor out, or whatever it is given.
  group(
    NN,
    { is: 'layer' },
    'AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d Identity MaxPool1d MaxPool2d MaxPool3d',
  ),
  group(NN, { is: 'layer', weights: true }, 'Bilinear'),
  group(NN, { is: 'layer', weights: true, random: true }, 'GRU LSTM RNN MultiheadAttention'),
  group(NN, { is: 'layer', weights: true, random: true }, 'TransformerDecoderLayer TransformerEncoderLayer'),
  group(
    NN,
    { is: 'container', weights: true, random: true },
    'Transformer TransformerDecoder TransformerEncoder',
  ),
  group(NN, { is: 'container' }, 'ModuleDict ModuleList Sequential'),

  group(
    FUNCTIONAL,
    loss(3),
    'binary_cross_entropy binary_cross_entropy_with_logits cross_entropy gaussian_nll_loss nll_loss',
  ),
  group(FUNCTIONAL, loss(2), 'hinge_embedding_loss huber_loss kl_div l1_loss mse_loss multi_margin_loss'),
  group(
    FUNCTIONAL,
    loss(2),
    'multilabel_margin_loss multilabel_soft_margin_loss poisson_nll_loss smooth_l1_loss',
  ),
  group(FUNCTIONAL, loss(2), 'soft_margin_loss'),
  group(FUNCTIONAL, loss(4), 'cosine_embedding_loss ctc_loss margin_ranking_loss triplet_margin_loss'),
  group(FUNCTIONAL, loss(4), 'triplet_margin_with_distance_loss'),
  // The first positional argument of the module is a weight or a margin.
  group(
    NN,
    { ...loss(1), is: 'loss' },
    'BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss',
  ),
  group(
    NN,
    { ...loss(1), is: 'loss' },
    'GaussianNLLLoss HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss MSELoss',
  ),
  group(
    NN,
    { ...loss(1), is: 'loss' },
    'MarginRankingLoss MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss',
  ),
  group(
    NN,
    { ...loss(1), is: 'loss' },
    'NLLLoss PoissonNLLLoss SmoothL1Loss SoftMarginLoss TripletMarginLoss',
  ),
  group(NN, { ...loss(1), is: 'loss' }, 'TripletMarginWithDistanceLoss'),

  group(
    MODULE,
    { gives: 'self' },
    'apply bfloat16 cpu cuda double eval float half requires_grad_ to to_empty train type xpu',
  ),
  group(
    MODULE,
    { walks: true },
    'buffers children modules named_buffers named_children named_modules named_parameters parameters',
  ),
  group(MODULE, { graph: 'cut' }, 'state_dict'),
  group(MODULE, { gives: 'plain' }, 'load_state_dict extra_repr'),
  group(
    MODULE,
    { gives: 'nothing' },
    'zero_grad register_buffer register_parameter add_module compile share_memory',
  ),
];
