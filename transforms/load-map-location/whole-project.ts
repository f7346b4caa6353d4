import type { Answer } from '../../src/semantic/answer.js';
import type { PyModule } from '../../src/semantic/module.js';
import { isProgram } from '../../src/semantic/program.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isInstallable, isMadeHere } from './installed.js';
import { isOther, type Keeper, keeperOf } from './keeper.js';
import { givesFunctionObject, keepingClasses } from './kept-settings.js';
import { fateOfParameter } from './loaded-value.js';
import { loadsAsUsual, loadsPlainly } from './loading-class.js';
import { loadingNames } from './loading-names.js';

/**
 * Whether every object that this program can get hold of, and that has a `load_state_dict`, copies what it loads: no file of the
 * project has a way of its own, and none of them imports a package of which the library knows that it has. What can be installed, or has no program, may be handed objects by others.
 */
export function allLoadPlainly(module: PyModule, receiver: PyNode): Answer {
  const found = module.memo(findPlainLoading, module);
  if (found === undefined || (found.isOpen && !isMadeHere(module, receiver))) return 'unknown';
  return found.keepers.every((keeper) => isOther(module, receiver, keeper)) ? 'yes' : 'unknown';
}

interface PlainLoading {
  /** Others may hand it objects of theirs. */
  readonly isOpen: boolean;
  /** Classes of the program that keep something of what they load. */
  readonly keepers: readonly Keeper[];
}

function findPlainLoading(module: PyModule): PlainLoading | undefined {
  const own = lookAt(module.alone);
  if (own === OWN_WAY) return undefined;
  const others = ['import', 'load_state_dict', 'class', 'setattr'].map((word) =>
    module.around.summaries({ word, beside: [] }, lookAt),
  );
  const files: Look[] = [own];
  for (const found of others) {
    if (found === undefined) return undefined;
    for (const file of found) {
      if (file === OWN_WAY) return undefined;
      files.push(file);
    }
  }
  const places = new Set(files.flatMap(({ place }) => partsOf(place)));
  const arePlain = files.every(({ imports }) =>
    imports.every((dotted) => places.has(dotted) || loadsAsUsual(dotted)),
  );
  if (!arePlain || !files.some((file) => file.isProgram)) return undefined;
  return {
    isOpen: !own.isProgram && isInstallable(module),
    keepers: keepersAmong(module, files),
  };
}

/** Where one of them keeps something, what another hands on may reach it. */
function keepersAmong(module: PyModule, files: readonly Look[]): readonly Keeper[] {
  if (files.every(({ areCopying }) => areCopying)) return [];
  const isChanged = files.some(({ givesMethods }) => givesMethods);
  return files
    .flatMap(({ loaders }) => loaders)
    .map(({ name, knows }) => ({ name, knows: isChanged || isTakenUp(module, name) ? undefined : knows }));
}

/** Whether some file does more with a class than to make an instance of it: it may inherit from it, or change it. */
function isTakenUp(module: PyModule, name: string): boolean {
  const files = module.around.summaries({ word: name, beside: [] }, takesUp);
  return files === undefined || files.includes(true) || takesUp(module.alone, name);
}

function takesUp({ code }: PyModule, name: string): boolean {
  const renamed = new RegExp(`\\b${name}\\s+as\\b`);
  const used = new RegExp(`(?<!class\\s+|super\\()\\b${name}\\b(?!\\s*\\()`);
  return code.split('\n').some((line) => (/^\s*(?:from|import)\b/.test(line) ? renamed : used).test(line));
}

/** Methods of modules that some object is given. */
const GIVES_METHODS =
  /\.(?:cuda|modules|named_parameters|parameters)\s*=(?!=)|\bsetattr\([^\n]*["'](?:cuda|modules|named_parameters|parameters)["']/;

const OWN_WAY = 'own way';

interface Look {
  /** Its path, as an import spells it: `.lib.nets` for `lib/nets.py`. */
  readonly place: string;
  readonly isProgram: boolean;
  /** Its classes with a way of their own to load, and whether all of these copy what they are given. */
  readonly loaders: readonly Keeper[];
  readonly areCopying: boolean;
  readonly givesMethods: boolean;
  /** What it imports, `.lib.nets` for a relative import; of the others the first two names. */
  readonly imports: readonly string[];
}

/** The class of diffusers keeps what it is given. */
const SHADOWS = /\bEMAModel\b/;
/** Settings that are tensors, or may be: an optimizer leaves them where they are loaded. */
const TENSOR_SETTINGS =
  /\bcapturable\b|\b(?:lr|betas?|momentum)\s*=\s*(?:\w+\.)*(?:as_)?tensor\(|\bgroup\w*\[[^\]\n]+\]\s*=[^\n]*\b(?:as_tensor|empty|full|ones|tensor|zeros)\(/i;
/** Code that makes classes of a text, or gets them from packages that it names nowhere. What `import_module` gives is a file or a package. */
const COMPUTED = /\b(?:__import__|hydra|runpy|locate)\b|entry_points?\b|(?<![.\w])exec\(/;
const BY_PREFIX = /\bimport_module\(\s*f?["']([\w.]+)/g;
/** The dotted names of what a statement imports, or imports from. */
function importedBy({ parent: statement }: PyNode): readonly string[] {
  if (statement?.type === 'import_from_statement') return [statement.module_name?.text ?? ''];
  if (statement?.type !== 'import_statement') return [];
  return statement.named.map((each) => (each.name ?? each).text);
}

function lookAt(alone: PyModule): Look | typeof OWN_WAY {
  const { path, text } = alone;
  if (!loadsPlainly(alone.code) || [SHADOWS, TENSOR_SETTINGS, COMPUTED].some((way) => alone.mentions(way)))
    return OWN_WAY;
  const { methods, areGiven } = loadingNames(alone);
  if (areGiven || givesFunctionObject(alone)) return OWN_WAY;
  const keeping = keepingClasses(alone);
  const place = `.${path.replace(/\.\w+$/, '').replaceAll('/', '.')}`;
  const imports = alone.words('import').flatMap(importedBy);
  for (const [, prefix = ''] of text.matchAll(BY_PREFIX)) imports.push(prefix.replace(/\.$/, ''));
  return {
    place: place.replace(/\.__init__$/, ''),
    isProgram: isProgram(alone),
    loaders: [...methods, ...keeping].map((node) => keeperOf(alone, node)),
    areCopying: keeping.length === 0 && methods.every((method) => copiesGiven(alone, method)),
    givesMethods: alone.mentions(GIVES_METHODS),
    imports: [...new Set(imports.map((dotted) => spelledOut(place, dotted)))],
  };
}

/** Whether a loader of its own copies what it is given, or has others do so: nothing of that stays where it was loaded. */
function copiesGiven(module: PyModule, method: PyNode): boolean {
  const given = method.parameters?.named[1];
  const name = given?.type === 'identifier' ? given : (given?.name ?? given?.named[0]);
  if (name?.type !== 'identifier' || /\bassign\b|\*\*/.test(module.codeOf(method))) return false;
  const { loads, strays } = fateOfParameter(module, name);
  return strays.length === 0 && (loads.length > 0 || /\.copy_\(/.test(module.codeOf(method)));
}

/** A relative import from the top of the project; of another the first two names. */
function spelledOut(place: string, dotted: string): string {
  const level = /^\.*/.exec(dotted)?.[0].length ?? 0;
  if (level === 0) return dotted.split('.').slice(0, 2).join('.');
  const folder = place.split('.').slice(0, -level).join('.');
  const rest = dotted.slice(level);
  return rest === '' ? folder : `${folder}.${rest}`;
}

/** What may lead to a file: its whole place and those of the folders around, and one or two names of it in a row. */
function partsOf(place: string): readonly string[] {
  const names = place.split('.').slice(1);
  return names.flatMap((name, at) => [
    `.${names.slice(0, at + 1).join('.')}`,
    name,
    ...(at === 0 ? [''] : [`${names[at - 1]}.${name}`]),
  ]);
}
