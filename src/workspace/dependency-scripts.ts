import { pinOf } from '../semantic/versions.js';
import {
  condaRequirement,
  marked,
  packageOf,
  plain,
  requirement,
  type Statement,
} from './dependency-files.js';
import { askedFor } from './installer-options.js';
import { PYTHON } from './targets.js';

/** Programs that install packages. None is run: what they install is read from their text. */

/** `pytorch/pytorch:1.8.1-cuda11.1-cudnn8-runtime`: the images whose tag begins with the version of a package. */
const IMAGES: ReadonlyMap<string, string> = new Map([
  ['pytorch/pytorch', 'torch'],
  ['huggingface/transformers-pytorch-gpu', 'transformers'],
  ['huggingface/transformers-gpu', 'transformers'],
  ['huggingface/accelerate', 'accelerate'],
  ['huggingface/peft-gpu', 'peft'],
  ['python', PYTHON],
]);
/**
 * The tags of NVIDIA's image are a year and a month. It holds a state of torch from between two releases; the release before
 * the one of each January, by NVIDIA's support matrix. Which one it is, the tag does not say.
 */
const NVIDIA = 'nvidia/pytorch';
const NVIDIA_SINCE: ReadonlyMap<string, string> = new Map([
  ['20', '1.3'],
  ['21', '1.7'],
  ['22', '1.10'],
  ['23', '1.13'],
  ['24', '2.1'],
  ['25', '2.5'],
]);

const LONGEST_IMAGE = 300;

/** A Dockerfile: its `FROM`, and what its `RUN` lines install. */
export function readDockerfile(text: string, source: string): readonly Statement[] {
  return instructionsIn(text).flatMap(({ line, words }) => {
    const place = `${source}:${line}`;
    const [, instruction = '', rest = ''] = /^(\w+) (.*)$/.exec(words) ?? [];
    switch (instruction.toUpperCase()) {
      case 'FROM':
        return imageStatements(rest, place);
      case 'RUN':
        return installed(rest, place);
      default:
        return [];
    }
  });
}

/** Lines joined at backslashes; comment lines and empty ones between them are left out, as Docker does. */
function instructionsIn(text: string): readonly { readonly line: number; readonly words: string }[] {
  const found: { line: number; words: string }[] = [];
  let isOpen = false;
  for (const [index, row] of text.split(/\r\n|\r|\n/).entries()) {
    if (/^\s*(?:#|$)/.test(row)) continue;
    const isContinued = /\\\s*$/.test(row);
    const words = ` ${row.replace(/\\\s*$/, '')}`;
    const last = found.at(-1);
    if (isOpen && last !== undefined) last.words += words;
    else found.push({ line: index + 1, words });
    isOpen = isContinued;
  }
  return found.map(({ line, words }) => ({ line, words: plain(words) }));
}

function imageStatements(rest: string, source: string): readonly Statement[] {
  const image = rest.split(' ').find((word) => !word.startsWith('--')) ?? '';
  if (image.length > LONGEST_IMAGE) return [];
  const [, path = '', tag = ''] =
    /^(?:[\w-]+(?:\.[\w-]+)+\/)?([\w./-]+?)(?::([\w.-]+))?(?:@\S*)?$/.exec(image) ?? [];
  if (path === NVIDIA) {
    const from = NVIDIA_SINCE.get(tag.slice(0, 2));
    return [['torch', { text: image, source, isFrozen: true, ...(from !== undefined && { from }) }]];
  }
  const name = IMAGES.get(path.replace(/^library\//, ''));
  if (name === undefined) return [];
  const version = /^\d+(?:\.\d+)*/.exec(tag)?.[0];
  // `latest`, or a name without a tag, is whatever is newest when the image is built.
  if (version === undefined) return [[name, { text: image, source, isAny: true }]];
  return [[name, { ...pinOf(`==${version}.*`, source), text: `==${version}` }]];
}

/** What `pip install` and `conda install` in a shell command ask for. */
function installed(command: string, source: string): readonly Statement[] {
  return command.split(/&&|\|\|?|;/).flatMap((each) => {
    const words = wordsOf(each);
    const tool = words.findIndex((word) => /(?:^|\/)(?:pip[\d.]*|uv|conda|mamba|micromamba)$/.test(word));
    const verb = words.findIndex(
      (word, index) => tool !== -1 && index > tool && /^(?:install|add)$/.test(word),
    );
    if (verb === -1) return [];
    const isConda = /conda|mamba/.test(words[tool] ?? '');
    const read = isConda ? condaRequirement : requirement;
    return askedFor(words.slice(verb + 1), isConda).flatMap((word) => read(word, source));
  });
}

const COMMAND =
  /^([ \t]*)get_ipython\(\)\.(?:system\((["'])(.*)\2\)|run_line_magic\((["'])(pip|conda|mamba|uv)\4, (["'])(.*)\6\))/gm;

/** What the commands in a notebook install, as its program has them or as it is exported to Python. */
export function readCommands(text: string, placeOf: (offset: number) => string): readonly Statement[] {
  if (!text.includes('get_ipython().')) return [];
  return [...text.matchAll(COMMAND)].flatMap(({ 1: indent, 3: command, 5: tool, 7: rest, index }) => {
    const words = (command ?? `${tool} ${rest}`).replace(/\\(["'\\])/g, '$1');
    const found = installed(words, placeOf(index));
    return marked(found, { authority: 'environment', ...(indent !== '' && { isConditional: true }) });
  });
}

function wordsOf(command: string): readonly string[] {
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );
}

/** `setup.py`: the requirements among its strings. One without a version counts only in the list of what is installed. */
export function readSetupPy(text: string, source: string): readonly Statement[] {
  const [start, end] = installRequires(text);
  let line = 1;
  let counted = 0;
  return [...text.matchAll(/^[ \t]*#.*|(["'])([A-Za-z][\w.-]{1,30}[^"'\n]{0,300})\1/gm)].flatMap(
    ({ 2: words, index }) => {
      for (let at = text.indexOf('\n', counted); at !== -1 && at < index; at = text.indexOf('\n', counted)) {
        line++;
        counted = at + 1;
      }
      const found = words === undefined ? [] : requirement(words, `${source}:${line}`);
      const isInstalled = index > start && index < end;
      return marked(isInstalled || hasBounds(words ?? '') ? found : [], {
        isPromise: true,
        ...(!isInstalled && { isOptional: true }),
      });
    },
  );
}

function hasBounds(words: string): boolean {
  return packageOf(words) === undefined && /[<>=~]=?\s*\d/.test(words);
}

/** The offsets of the list after `install_requires`; of nothing where it is not written there. */
function installRequires(text: string): readonly [number, number] {
  const found = /\binstall_requires\s*=\s*\[/.exec(text);
  if (found === null) return [0, 0];
  const inside = /"[^"\n]*"|'[^'\n]*'|[[\]]/g;
  inside.lastIndex = found.index + found[0].length;
  let depth = 1;
  for (let match = inside.exec(text); match !== null; match = inside.exec(text)) {
    if (match[0] === '[') depth++;
    if (match[0] === ']' && --depth === 0) return [found.index, match.index];
  }
  return [found.index, text.length];
}
