/*
 * parser.add_argument("--max-length", type=int, default=2048)
 * length = args.max_length or MAX_SEQ_LENGTH
 *
 * The option always has a value, so that the constant behind `or` never applies: somebody who lowers `MAX_SEQ_LENGTH` to save
 * memory changes nothing. The same for `args.x if args.x else CONST` and `args.x if args.x is not None else CONST`. Said, not
 * done: whether the default or the constant is meant is not in the code.
 *
 * Only where the file shows one argparse parser with one option of that name and a literal default, and nothing that sets
 * either elsewhere. An `or` that asks a question (`if args.a or args.b`) is no fallback.
 */
import type { PyNode, Site, Transform } from '../src/toolkit/index.js';
import { asksForNone, type DefaultedOption, defaultedOption, fallbackOf } from '../src/toolkit/index.js';

/** From the last letter before the dot: what starts with many letters is slow to look for. */
const FALLBACK = /\w\.\w+\s+or\s+(?=[A-Za-z_])|if\s+(\w+\.\w+)\s+(is\s+(?:not\s+)?None\s+)?else\b/g;
/** No name alone: a word of the language, a text, a number, a call, an element, a sum or a comparison. */
const NO_NAME =
  /^(?:(?:not|None|True|False|lambda|await)\b|\w*["'][^.\n]*(?:\n|$)|[-+~\d[{][^.\n]*(?:\n|$)|[\w.]+[ \t]*(?:[([<>+\-*/%@|&^]|[=!]=|(?:is|in|not)\b))/;
const CONDITION = /^[ \t]*(?:if|elif|while|assert)\b[^([{:]*$/;
/** How far what stands beside a match is looked at. */
const REACH = 400;
interface ShadowedSite extends Site {
  readonly constant: PyNode;
  readonly option: DefaultedOption;
}

export const shadowedConfig: Transform<ShadowedSite> = {
  meta: {
    id: 'shadowed-config',
    summary: 'Say where the default of a command line option makes a configured constant idle',
    symptom: 'peak',
    safety: 'advice',
    numerics: 'bit-identical',
    group: 'default',
    options: {},
    requires: {},
    docs: {
      why: 'A setting that stands in a config module and again as the default of a command line option has two values, and the option wins: `args.max_length or MAX_SEQ_LENGTH` takes the constant only when the option is empty, which its default never is. A run that was made smaller in the config then still runs out of memory, with no error to tell why.',
      does: 'Points at the fallback behind `args.x or …`, or in `… if args.x is None else …` and `args.x if args.x else …`, where the option’s default is a literal that can never let it through.',
      refuses: [],
      limits: [
        'The parser has to be in the same file. Dataclasses with HfArgumentParser, click and Hydra are not looked at.',
        'An explicit empty value (`--max-length 0`) still reaches a constant behind `or`.',
      ],
    },
    evidence: {
      verdict: 'No effect of its own: it tells why a change of the configuration has none',
      measurements: [],
      gpu: {
        notMeasured:
          'it names a setting that has no effect: what the setting would do depends on which one it is',
      },
    },
    origin: [
      { document: 'Memory optimization guide (baseline 7B training)', section: '1', fidelity: 'inspired' },
    ],
    example: 'report-as-documented',
  },

  prefilter: ['add_argument', 'ArgumentParser'],
  cue: (text) => fallbacks(text).next().done !== true,

  *detect(module) {
    for (const index of fallbacks(module.text)) {
      const attribute = attributeFrom(module.root.descendantAt(index));
      const constant = attribute?.type === 'attribute' ? namedFallback(attribute) : undefined;
      if (attribute === undefined || constant === undefined) continue;
      const option = defaultedOption(module, attribute);
      if (option === undefined || (!option.isTruthy && !asksForNone(attribute))) continue;
      yield {
        node: constant,
        constant,
        option,
        message: `\`${constant.text}\` never applies: \`${option.flag}\` is ${option.value.text} when nobody gives it`,
      };
    }
  },

  fix({ constant, option }, edit) {
    return edit.advise(
      `Set \`default=None\` for \`${option.flag}\` if \`${constant.text}\` is meant, or change the default there: changing the constant has no effect`,
    );
  },
};

/** Where `args.x or C`, `C if args.x is None else args.x` or the like may stand, going by the text. */
function* fallbacks(text: string): Generator<number> {
  for (const { 0: match, 1: attribute, 2: asks, index } of text.matchAll(FALLBACK)) {
    const before = text.slice(Math.max(0, index - REACH), index);
    const behind = text.slice(index + match.length, index + match.length + REACH);
    const isFirst = asks?.includes('not') ?? true;
    const may =
      attribute === undefined
        ? mayBeFallback(behind, `${/\w*$/.exec(before)?.[0]}${match[0]}`) &&
          !CONDITION.test(before.slice(before.lastIndexOf('\n') + 1))
        : isFirst
          ? standsLast(before, attribute) &&
            mayBeFallback(behind.trimStart(), attribute.slice(0, attribute.indexOf('.')))
          : standsFirst(behind, attribute);
    if (may) yield index;
  }
}

/** A name that is not an attribute of the same object. */
function mayBeFallback(code: string, object: string): boolean {
  return !NO_NAME.test(code) && /^(\w+)\.\w+(?![\w.])/.exec(code)?.[1] !== object;
}

function standsLast(before: string, words: string): boolean {
  const code = before.replace(/(?:[\s\\]|#[^\n]*\n)+$/, '');
  return code === '' || code.endsWith(words) || before.trimEnd().endsWith(words);
}

function standsFirst(behind: string, words: string): boolean {
  const code = behind.replace(/^(?:[\s\\]|#.*)+/, '');
  return code === '' || code.startsWith(words);
}

/** `args.x` of `args.x or …` and of `if args.x …`, from the first word. */
function attributeFrom(word: PyNode): PyNode | undefined {
  if (word.type !== 'if') return word.parent;
  const test = word.parent?.type === 'conditional_expression' ? word.parent.named[1] : undefined;
  return test?.type === 'comparison_operator' ? test.named[0] : test;
}

/** What stands in for an attribute that has no value, where that is a name: a constant, or a setting of a config. */
function namedFallback(attribute: PyNode): PyNode | undefined {
  const found = fallbackOf(attribute);
  if (found?.type !== 'identifier' && found?.type !== 'attribute') return undefined;
  return found.object?.text === attribute.object?.text ? undefined : found;
}
