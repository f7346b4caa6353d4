/** Builtins of Python and the methods of its own types; numpy's arrays, and the writers of logs. */
import { type Facts, type Group, group } from './row.js';

const BUILTIN = 'builtins.';
const passes: Facts = { gives: 'arguments' };
const stores: Facts = { gives: 'nothing', keeps: true };
const text: Facts = { gives: 'plain' };

export const PYTHON_ROWS: readonly Group[] = [
  group(
    BUILTIN,
    { gives: 'number' },
    'all any bool callable float hasattr hash id int isinstance issubclass len ord round',
  ),
  group(BUILTIN, { gives: 'plain' }, 'bytes chr dir format hex input open range repr str type'),
  group(BUILTIN, { gives: 'nothing', reports: true }, 'print'),
  group(BUILTIN, { gives: 'nothing', keeps: true }, 'setattr'),
  group([BUILTIN, 'sys.'], { gives: 'nothing', ends: true }, 'exit'),
  group(BUILTIN, { gives: 'nothing', ends: true }, 'quit'),
  group('os.', { gives: 'nothing', ends: true }, '_exit abort'),
  group(BUILTIN, passes, 'dict enumerate frozenset list reversed set tuple zip'),
  group(BUILTIN, { ...passes, operators: ['__lt__', '__gt__'] }, 'max min sorted'),
  group(BUILTIN, { ...passes, runs: true }, 'filter iter map next'),
  group(BUILTIN, { graph: 'kept', dtype: 'promoted' }, 'abs'),
  group(BUILTIN, { graph: 'kept', dtype: 'promoted', operators: ['__pow__', '__rpow__'] }, 'pow'),
  group(BUILTIN, { graph: 'kept', dtype: 'promoted', operators: ['__add__', '__radd__'] }, 'sum'),
  group(BUILTIN, { graph: 'kept' }, 'super'),
  group(BUILTIN, { graph: 'kept', runs: true }, 'getattr vars'),

  group(['list.', 'collections.deque.'], stores, 'append extend insert'),
  group('collections.deque.', stores, 'appendleft extendleft'),
  group('set.', stores, 'add update'),
  group('dict.', stores, 'update'),
  group('dict.', { ...passes, keeps: true }, 'setdefault'),
  group('queue.Queue.', stores, 'put put_nowait'),
  group('dict.', passes, 'copy get items pop popitem values'),
  group('dict.', { gives: 'plain' }, 'keys'),
  group('list.', passes, 'copy pop'),
  group('list.', { gives: 'nothing' }, 'clear remove reverse sort'),
  group('list.', { gives: 'number' }, 'count index'),
  group('str.', text, 'format join lower lstrip replace rstrip split splitlines strip title upper zfill'),
  group('str.', { gives: 'number' }, 'endswith isdigit startswith'),
  group('datetime.datetime.', text, 'isoformat strftime'),
  group(
    'time.',
    { gives: 'plain', harmless: true },
    'monotonic monotonic_ns perf_counter perf_counter_ns process_time process_time_ns thread_time thread_time_ns time time_ns',
  ),

  group(
    'numpy.',
    { gives: 'plain', harmless: true, keepsObjects: true },
    `append array asanyarray asarray ascontiguousarray atleast_1d atleast_2d concatenate copy delete expand_dims flip full
      hstack insert ravel repeat reshape roll split squeeze stack take tile vstack where`,
  ),
  group('numpy.random.', { gives: 'plain', harmless: true, keepsObjects: true }, 'choice permutation'),
  group(
    'numpy.',
    { gives: 'plain', harmless: true },
    'abs average ceil exp floor log log10 log1p log2 max mean median min round sqrt std sum var',
  ),
  group('numpy.ndarray.', { gives: 'number' }, 'item'),
  group('numpy.ndarray.', { gives: 'nothing', changes: true, until: '2.0' }, 'itemset'),
  group('numpy.ndarray.', { gives: 'nothing', changes: true }, 'fill partition put resize setfield sort'),
  group(
    'logging.Logger.',
    { gives: 'nothing', reports: true },
    'critical debug error exception info log warn warning',
  ),
  group('io.TextIOBase.', { gives: 'number', reports: true }, 'write'),
];

/** What code may name without binding it: Python's builtins, also those of Python 2, and what shells and profilers put beside them. */
export const PYTHON_NAMES: ReadonlySet<string> = new Set(
  `ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError BrokenPipeError
    BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError
    ConnectionResetError DeprecationWarning EOFError Ellipsis EncodingWarning EnvironmentError Exception
    ExceptionGroup False FileExistsError FileNotFoundError FloatingPointError FutureWarning GeneratorExit IOError
    ImportError ImportWarning IndentationError IndexError InterruptedError IsADirectoryError KeyError
    KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError None NotADirectoryError NotImplemented
    NotImplementedError OSError OverflowError PendingDeprecationWarning PermissionError ProcessLookupError
    PythonFinalizationError RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning StandardError
    StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError True
    TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError
    UnicodeWarning UserWarning ValueError Warning WindowsError ZeroDivisionError _ __annotations__ __build_class__
    __builtins__ __cached__ __class__ __debug__ __dict__ __doc__ __file__ __import__ __loader__ __name__ __package__
    __path__ __spec__ abs aiter all anext any apply ascii basestring bin bool breakpoint buffer bytearray bytes
    callable chr classmethod cmp coerce compile complex copyright credits delattr dict dir display divmod enumerate
    eval exec execfile exit file filter float format frozenset get_ipython getattr globals hasattr hash help hex id
    input int intern isinstance issubclass iter len license list locals long map max memoryview min next object oct
    open ord pow print profile property quit range raw_input reduce reload repr reveal_locals reveal_type reversed
    round set setattr slice sorted staticmethod str sum super tuple type unichr unicode vars xrange zip`.split(
    /\s+/,
  ),
);

/** The methods that operators run: of their left side, and of their right side, which is asked with the sides swapped. */
export const OPERATORS: ReadonlyMap<string, readonly [left: string, right: string]> = new Map([
  ...arithmetic(
    '+ add - sub * mul @ matmul / truediv // floordiv % mod ** pow << lshift >> rshift & and | or ^ xor',
  ),
  ...compared('< lt gt > gt lt <= le ge >= ge le == eq eq != ne ne <> ne ne'),
]);

function arithmetic(pairs: string): readonly [string, readonly [string, string]][] {
  return [...pairs.matchAll(/(\S+) (\S+)/g)].map(([, sign = '', name]) => [
    sign,
    [`__${name}__`, `__r${name}__`],
  ]);
}

function compared(triples: string): readonly [string, readonly [string, string]][] {
  return [...triples.matchAll(/(\S+) (\S+) (\S+)/g)].map(([, sign = '', left, right]) => [
    sign,
    [`__${left}__`, `__${right}__`],
  ]);
}

/** The methods that Python calls where no name shows, with nothing but their object or a key: what they keep, they have made themselves. */
export const UNSEEN_METHODS: readonly string[] = [
  ...['__call__', '__getitem__', '__getitems__', '__missing__', '__iter__', '__next__', '__reversed__'],
  ...['__len__', '__length_hint__', '__contains__', '__bool__', '__enter__', '__exit__', '__del__'],
  ...[
    '__getattr__',
    '__getattribute__',
    '__get__',
    '__float__',
    '__int__',
    '__index__',
    '__round__',
    '__abs__',
  ],
  ...['__neg__', '__pos__', '__invert__', '__str__', '__repr__', '__format__', '__hash__', '__array__'],
];
