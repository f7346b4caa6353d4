/** Whole packages, for what has no row of its own. None of them trains what it is handed, or differentiates it. */
import { type Group, group } from './row.js';

/** Packages whose modules are called like the files of many projects: `torch.utils.data`, `sklearn.metrics`. */
export const LIBRARIES: ReadonlySet<string> = new Set(
  `keras matplotlib numpy pandas scipy skimage sklearn tensorflow torch torchaudio torchmetrics torchtext torchvision
    transformers`.split(/\s+/),
);

export const PACKAGE_ROWS: readonly Group[] = [
  // What they give carries no graph of torch.
  group(
    '',
    { gives: 'plain', harmless: true },
    `argparse cmath csv cv2 datasets datetime editdistance evaluate imageio jiwer json logging math matplotlib nltk numpy
      os pathlib pickle PIL prettytable psutil re rouge_score sacrebleu scipy seaborn shutil skimage sklearn
      statistics string sys tabulate tensorboardX time torchtext wandb`,
  ),
  // They hand on what they are handed.
  group(
    '',
    { gives: 'arguments', harmless: true },
    'collections copy functools itertools more_itertools pandas random rich tqdm',
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
  // Both run under `no_grad`, since 0.9; before that what they give was a picture, too.
  group('torchvision.utils.', { gives: 'tensor', graph: 'cut', storage: 'new', harmless: true }, 'make_grid'),
  group('torchvision.utils.', { gives: 'nothing', harmless: true, reports: true }, 'save_image'),
  // Two levels and how to choose between them, as numbers.
  group('torchvision.ops.poolers.', { gives: 'arguments', harmless: true }, 'LevelMapper'),
  // Answers of a server, and texts.
  group(
    'flask.',
    { gives: 'plain', harmless: true },
    'jsonify redirect render_template render_template_string send_file send_from_directory url_for',
  ),
  ...['fastapi.', 'starlette.'].map((name) =>
    group(
      `${name}responses.`,
      { gives: 'plain', harmless: true },
      'FileResponse HTMLResponse JSONResponse PlainTextResponse RedirectResponse',
    ),
  ),
  group('base64.', { gives: 'plain', harmless: true }, 'b64decode b64encode'),
  // Python's own, and tools that know nothing of torch's modules and optimizers.
  group(
    '',
    { stateless: true },
    `__future__ academictorrents accimage addict aiohttp albumentations annoy anthropic arch ase ast astropy asyncio
      atari_py atexit attr attrs audioread Bio boto3 box2d bs4 calendar chardet click cloudpickle cmapy codecs
      concurrent configargparse configparser cProfile ctypes cupy Cython cython d4rl dateutil decimal decord
      deepmind_lab difflib dill distutils dm_control dm_env docopt dominate dotenv easydict errno faiss fastapi
      faulthandler ffmpeg filecmp fiona fire flask fnmatch fractions ftplib g2p_en gdown gensim geopandas getopt
      gflags git gradio gspread gym_super_mario_bros html http httpx ijson imageio_ffmpeg imgaug importlib
      importlib_metadata imutils inflect ipdb IPython ipywidgets jieba json_tricks jsonlines keras langchain linecache
      lmdbdict locale lxml lz4 matplotlib_inline mdtraj miditoolkit mido minerl mmap moviepy msgpack mujoco mujoco_py
      munch munkres music21 natsort nes_py netCDF4 networkx nibabel ninja nni nnmnkwii noisereduce numba oauth2client
      open3d openai opencc optparse optuna orjson osgeo pandas_profiling patoolib pdb peewee pesq pettingzoo pkgutil
      plyfile prefetch_generator pretty_midi procgen progress progressbar pstats pulp pwd py7zr pyarrow pybullet
      pycocoevalcap pycuda pydantic pydensecrf pydicom pydot pydotplus pydub pymatgen pypinyin pyproj pyquaternion
      pyrender pysptk pystoi pytest pytz pyworld pywt pyximport queue rasterio rdkit regex resampy
      resource retro rlcard ruamel sacred sched scikitplot secrets select selectors setuptools shapely shlex SimpleITK
      simplejson six sktime skvideo socketserver SoundFile spacy sqlite3 ssl starlette stat statsmodels streamlit
      subword_nmt sympy tables tensorboard_logger tensorflow tensorflow_datasets textblob textwrap tiktoken timeit
      tkinter toml tomli torch_cluster torch_scatter torch_sparse torchdiffeq torchsummaryX tornado trimesh tty
      typeguard ujson unicodedata unidecode unittest uvicorn vizdoom warmup_scheduler weakref webbrowser webrtcvad
      websocket werkzeug wget wrapt xarray xlrd xlsxwriter xlwt xml xmltodict yacs zhconv zlib`,
  ),
  group('', { stateless: true, differentiates: true }, 'pytorch_grad_cam'),
  group('', { foreign: true }, 'jax mindspore mxnet paddle'),
  group('subprocess.', { gives: 'plain', harmless: true }, 'check_output getoutput'),
  // Its metrics are modules that load their state in their own way, and save none unless they are made `persistent`.
  group('', { harmless: true, ownLoading: 'asked' }, 'torchmetrics'),
  // Arrays of numbers, or one number, whatever they are handed.
  group(
    'sklearn.metrics.',
    { gives: 'array', harmless: true },
    `accuracy_score average_precision_score balanced_accuracy_score brier_score_loss cohen_kappa_score confusion_matrix f1_score
      fbeta_score hamming_loss jaccard_score log_loss matthews_corrcoef mean_absolute_error mean_squared_error precision_score
      r2_score recall_score roc_auc_score top_k_accuracy_score`,
  ),
  // What they shard, quantize or average takes its state in its own way.
  group(
    '',
    { ownLoading: true },
    `auto_gptq awq bitsandbytes brevitas colossalai composer deepspeed fairscale gptqmodel hqq megatron nncf
      neural_compressor optimum pytorch_quantization quanto torch2trt torch2trt_dynamic torch_ema torch_tensorrt torchao transformer_engine`,
  ),
  // Their optimizers take their state in their own way, and none of their modules does.
  group('', { ownLoading: 'optimizers' }, 'apex fastai'),
];
