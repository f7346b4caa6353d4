/** Whole packages, for what has no row of its own. None of them trains what it is handed, or differentiates it. */
import { type Group, group } from './row.js';

export const PACKAGE_ROWS: readonly Group[] = [
  // What they give carries no graph of torch.
  group(
    '',
    { gives: 'plain', harmless: true },
    `argparse cmath csv cv2 datasets datetime editdistance evaluate imageio jiwer json logging math matplotlib nltk numpy
      os pandas pathlib pickle PIL prettytable psutil re rouge_score sacrebleu scipy seaborn shutil skimage sklearn
      statistics string sys tabulate tensorboardX time torchtext wandb`,
  ),
  // They hand on what they are handed.
  group(
    '',
    { gives: 'arguments', harmless: true },
    'collections copy functools itertools more_itertools random rich tqdm',
  ),
  group('', { graph: 'kept', dtype: 'promoted', harmless: true }, 'functools.reduce itertools.accumulate'),
  group(
    '',
    { harmless: true },
    `abc absl base64 bert_score bisect bokeh builtins clearml colorama comet_ml contextlib dataclasses einops enum fvcore
      gc getpass glob gym gymnasium gzip h5py hashlib heapq inspect io joblib librosa lmdb loguru mlflow multiprocessing
      neptune numbers omegaconf onnx onnxruntime operator packaging platform plotly pprint ptflops pycocotools pynvml
      requests sentencepiece signal socket soundfile struct subprocess tarfile tempfile tensorboard termcolor thop
      threading tokenizers torchaudio torchinfo torchsummary torchvision traceback types typing typing_extensions urllib
      uuid visdom warnings yaml zarr zipfile`,
  ),
  // Its metrics are modules that load their state in their own way.
  group('', { harmless: true, ownLoading: true }, 'torchmetrics'),
];
