import type { PyModule } from '../semantic/module.js';
import { argumentsOf, keywordValue } from '../semantic/statements.js';
import { plainString } from '../semantic/strings.js';
import type { PyNode } from '../syntax/node.js';
import { placeText } from '../text/place.js';
import type { Places, Text } from './places.js';

/** An option of a script's command line that is about memory. */
export interface Option {
  readonly name: string;
  readonly place: string;
  /** What it says of itself, shortened. */
  readonly help: string;
  /** A switch that nobody has turned on by default. */
  readonly isOff: boolean;
}

/** Switches that make the passes of a network smaller. */
const SMALLER =
  /^--?(?:use[-_]|enable[-_])?(?:amp|fp16|bf16|half|mixed[-_]precision|(?:gradient|activation|grad)[-_]checkpoint(?:ing)?)$/i;
/** It says that it makes less of it, and not only that it is about memory. */
const OF_MEMORY =
  /\b(?:sav|reduc|decreas|lower|less|fewer|small|limit|fit|efficien|run(?:ning)? out|out)\w*\b.*\bmemory\b|\bmemory\b.*\b(?:sav|reduc|less|efficien|small)\w*|\bOOM\b/i;
const MOST = 4;
const LONGEST_HELP = 80;

/** As the files write them; no option is looked for that a program makes when it runs. */
export function optionsIn(files: readonly string[], places: Places): readonly Option[] {
  const found = files.flatMap((file) => {
    const module = places.moduleOf(file);
    const text = places.textOf(file);
    return module === undefined || text === undefined ? [] : optionsOf(module, file, text);
  });
  return found
    .filter(({ name }, index) => found.findIndex((other) => other.name === name) === index)
    .slice(0, MOST);
}

function optionsOf(module: PyModule, file: string, text: Text): readonly Option[] {
  return module.at('.add_argument').flatMap((node) => {
    const call = node.closest('call');
    const option = call === undefined ? undefined : optionOf(call);
    if (call === undefined || option === undefined) return [];
    return [{ ...option, place: placeText(file, text.told(module.lines.lineAt(call.start))) }];
  });
}

function optionOf(call: PyNode): Omit<Option, 'place'> | undefined {
  const names = argumentsOf(call).flatMap((each) => plainString(each) ?? []);
  const name = names.find((each) => each.startsWith('--')) ?? names.find((each) => each.startsWith('-'));
  if (name === undefined) return undefined;
  const text = (keyword: string) => {
    const value = keywordValue(call, keyword);
    return value === undefined ? undefined : plainString(value);
  };
  const isOff = text('action') === 'store_true' && SMALLER.test(name);
  const help = (text('help') ?? '').replace(/\s+/g, ' ').trim();
  if (!isOff && !OF_MEMORY.test(help)) return undefined;
  const short = help.length > LONGEST_HELP ? `${help.slice(0, LONGEST_HELP - 1)}…` : help;
  return { name, help: short, isOff };
}
