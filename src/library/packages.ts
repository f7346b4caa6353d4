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
  // Python's own, and tools that know nothing of torch's modules and optimizers.
  group(
    '',
    { stateless: true },
    `__future__ addict annoy ast asyncio atari_py atexit attr attrs boto3 bs4 calendar chardet click codecs
      concurrent configargparse configparser cProfile ctypes cupy Cython cython dateutil decimal decord difflib
      distutils dm_control docopt dominate easydict errno faiss faulthandler ffmpeg filecmp fire fnmatch fractions
      ftplib gdown gensim getopt git html http imageio_ffmpeg imgaug importlib importlib_metadata imutils inflect ipdb IPython
      ipywidgets jieba json_tricks keras linecache locale lxml lz4 matplotlib_inline mmap moviepy msgpack mujoco_py
      munch natsort networkx nibabel ninja nni numba open3d optparse optuna orjson pandas_profiling pdb pkgutil
      plyfile prefetch_generator pretty_midi progress progressbar pstats pwd py7zr pyarrow pycuda pydantic pydicom
      pyquaternion pyrender pytest pytz pywt pyximport queue rasterio regex resource ruamel sacred sched scikitplot
      secrets select selectors setuptools shapely shlex simplejson six skvideo socketserver sqlite3 ssl stat sympy
      tables tensorboard_logger tensorflow tensorflow_datasets textwrap timeit tkinter toml tomli torch_cluster
      torch_scatter torch_sparse trimesh tty ujson unicodedata unidecode unittest weakref webbrowser websocket wget
      xlrd xlsxwriter xlwt xml xmltodict yacs zlib`,
  ),
  // Its metrics are modules that load their state in their own way.
  group('', { harmless: true, ownLoading: true }, 'torchmetrics'),
];
