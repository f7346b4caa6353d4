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
  group(BUILTIN, passes, 'dict enumerate frozenset list max min reversed set sorted tuple zip'),
  group(BUILTIN, { ...passes, runs: true }, 'filter iter map next'),
  group(BUILTIN, { graph: 'kept', dtype: 'promoted' }, 'abs pow sum'),
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
    'numpy.',
    { gives: 'plain', harmless: true, keepsObjects: true },
    `append array asanyarray asarray ascontiguousarray atleast_1d atleast_2d concatenate copy delete expand_dims flip full
      hstack insert ravel repeat reshape roll split squeeze stack take tile vstack where`,
  ),
  group('numpy.random.', { gives: 'plain', harmless: true, keepsObjects: true }, 'choice permutation'),
  group('numpy.', { gives: 'plain', harmless: true }, 'average max mean median min std sum var'),
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
