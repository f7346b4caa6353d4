/** Optimizers and schedulers of torch. */
import { type Group, group } from './row.js';

const OPTIM = 'torch.optim.';
const SCHEDULERS = 'torch.optim.lr_scheduler.';
const fused = ['fused', 'foreach'] as const;

export const OPTIM_ROWS: readonly Group[] = [
  group(OPTIM, { is: 'optimizer', accepts: fused }, 'Adagrad Adam AdamW SGD'),
  group(
    OPTIM,
    { is: 'optimizer', accepts: ['foreach'] },
    'ASGD Adadelta Adafactor Adamax NAdam RAdam RMSprop Rprop',
  ),
  group(OPTIM, { is: 'optimizer', runs: true }, 'LBFGS'),
  group(OPTIM, { is: 'optimizer' }, 'SparseAdam'),
  group(
    SCHEDULERS,
    { is: 'scheduler' },
    'ChainedScheduler ConstantLR CosineAnnealingLR CosineAnnealingWarmRestarts CyclicLR',
  ),
  group(
    SCHEDULERS,
    { is: 'scheduler' },
    'ExponentialLR LambdaLR LinearLR MultiStepLR MultiplicativeLR OneCycleLR',
  ),
  group(SCHEDULERS, { is: 'scheduler' }, 'PolynomialLR ReduceLROnPlateau SequentialLR StepLR'),
];
