import type { PyModule } from '../../src/semantic/module.js';
import { isProgram } from '../../src/semantic/program.js';
import {
  argumentsOf,
  decoratorsOf,
  hasSplat,
  isTarget,
  keywordValue,
  methodName,
  receiverOf,
} from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { type Keeper, keeperOf } from './keeper.js';
import { givesFunctionObject, hasTensorSettings, keepingClasses } from './kept-settings.js';
import { ASKS_FOR_STATES, loadsPlainly, quantizersOf } from './loading-class.js';
import { loadingNames } from './loading-names.js';
import { placeOf, spelledOut } from './place.js';
import { setsByText } from './plain-option.js';
import { FRAMES } from './read-by-name.js';
import { fateOfParameter } from './returned-value.js';
import { isScript, runBy } from './script.js';

/** What one file has to do with loading; plain data, kept with the file. */
export interface Look {
  /** Its path, as an import spells it: `.lib.nets` for `lib/nets.py`. */
  readonly place: string;
  readonly isProgram: boolean;
  /** The same, also where nothing says so. */
  readonly isScript: boolean;
  /** The files of which it calls functions as soon as it is loaded, if they are of the project: then it is one as well. */
  readonly runs: readonly string[];
  /** Whether something in it loads in its own way, and no class says so. */
  readonly isOwnWay: boolean;
  /** Its classes with a way of their own to load, and whether all of these copy what they are given. */
  readonly loaders: readonly Keeper[];
  readonly areCopying: boolean;
  readonly givesMethods: boolean;
  /** Attributes that must list what they do here, wherever they are named. */
  readonly lists: readonly string[];
  readonly setsByText: boolean;
  /** Whether it loads with `assign`, or with whatever keywords a loader of its own is given. */
  readonly mayAssign: boolean;
  readonly handsKeywordsOn: boolean;
  /** Whether it asks for metrics whose state is saved. */
  readonly asksForStates: boolean;
  /** What it imports, `.lib.nets` for a relative import; of the others the first two names. */
  readonly imports: readonly string[];
  /** Of these, what is for quantization, by its last two names. */
  readonly quantizers: readonly string[];
  /** Whether it may import more than that. */
  readonly importsMore: boolean;
}

/** Methods of modules that some object is given. */
const GIVES_METHODS =
  /\.(?:cuda|modules|named_parameters|parameters)\s*=(?!=)|\bsetattr\([^\n]*["'](?:cuda|modules|named_parameters|parameters)["']/;

/** The class of diffusers keeps what it is given. */
const SHADOWS = /\bEMAModel\b/;
/** Settings that are tensors, or may be: an optimizer leaves them where they are loaded. */
const TENSOR_GROUPS = /\bgroup\w*\[[^\]\n]+\]\s*=[^\n]*\b(?:as_tensor|empty|full|ones|tensor|zeros)\(/i;
/** Code that makes classes of a text, or gets them from packages that it names nowhere. What `import_module` and `__import__` give is a file or a package. */
const COMPUTED =
  /\bhydra\b(?=[\s\S]*(?:\b(?:instantiate|get_class|get_method|get_object|get_static_method)\b|\.call\(|import[^\n]*\bcall\b))|\blocate\b|entry_points\b(?!\s*=)|entry_point\b(?!\s*=\s*["'][\w.]+:\w+["']|\.split\()/;
/** `name = …`, `object.name = …`, with anything in place of what is computed; no definition, nor a second statement. */
const ASSIGNS = /^\s*[\w.\0]+\s*=(?!=)[^\n;\\]*$/;
/** `line.\0()`, `add(net, '\0')`: it calls what the file has. */
const CALLS = /^\s*\w[\w.\0]*\([^\n;()\\]*\)\s*$/;
/** `del \0`: what a class binds no more, its base answers for. */
const DELETES = /^\s*del\s+[\w\0]+\s*$/;
const DEFINES = /\b(?:compile|eval|exec|import|lambda|setattr|type)\b|load_|state_|_dict/;
/** `net.load_state_dict(state, assign=True)` */
const ASSIGNS_STATE = /\bassign\s*=\s*(?!False\b|=)|["']assign["']/;
/** What others may import says nothing of who loads how. */
const EXPORTS = /^__all__\s*\+?=\s*(?:\[[^\]]*\]|\([^)]*\))/gm;
const IMPORTS_MORE = /\b(?:__import__|import_module|runpy|spec_from_file_location|SourceFileLoader)\b/;
const BY_PREFIX = /(?:\b(?:__import__|import_module)\(\s*f?|\bentry_point\s*=\s*)["']([\w.]+)/g;

export function lookAt(alone: PyModule): Look {
  const { path, text } = alone;
  const { methods, areGiven, lists } = loadingNames(alone);
  const keeping = keepingClasses(alone);
  const place = placeOf(path);
  const imports = alone.words('import').flatMap(importedBy);
  for (const [, prefix = ''] of text.matchAll(BY_PREFIX)) imports.push(prefix.replace(/\.$/, ''));
  return {
    place: place.replace(/\.__init__$/, ''),
    isProgram: isProgram(alone),
    isScript: isScript(alone),
    runs: runBy(alone).map((dotted) => spelledOut(place, dotted)),
    isOwnWay:
      areGiven ||
      !loadsPlainly(isOnlyExported(alone) ? alone.code.replace(EXPORTS, '') : alone.code) ||
      [SHADOWS, TENSOR_GROUPS, COMPUTED].some((way) => alone.mentions(way)) ||
      hasTensorSettings(alone) ||
      givesFunctionObject(alone) ||
      runsText(alone),
    loaders: [...methods.filter((method) => !copiesByBase(alone, method)), ...keeping].map((node) =>
      keeperOf(alone, node),
    ),
    areCopying: keeping.length === 0 && methods.every((method) => copiesGiven(alone, method)),
    givesMethods: alone.mentions(GIVES_METHODS),
    lists,
    setsByText: setsByText(alone),
    mayAssign: alone.mentions(ASSIGNS_STATE),
    handsKeywordsOn: methods.some((method) => handsKeywordsOn(alone, method)),
    asksForStates: alone.mentions(ASKS_FOR_STATES),
    imports: [...new Set(imports.map((dotted) => spelledOut(place, dotted)))],
    quantizers: quantizersOf(alone).map((dotted) =>
      dotted.startsWith('.') ? spelledOut(place, dotted) : dotted.split('.').slice(-2).join('.'),
    ),
    importsMore: alone.mentions(IMPORTS_MORE),
  };
}

/** Whether nobody in the file goes through the names that others may import. */
function isOnlyExported(alone: PyModule): boolean {
  return alone.words('__all__').every((node) => isTarget(node, true));
}

/** Whether it runs a text of which more may be said than that it calls what the file has, or gives it to a variable or an attribute. */
function runsText(alone: PyModule): boolean {
  return alone.words('exec').some((node) => {
    const call = node.parent?.type === 'call' && node.parent.function === node ? node.parent : undefined;
    if (call === undefined || node.text !== 'exec' || alone.resolve(node) !== undefined) return false;
    const [run] = argumentsOf(call);
    const written = run === undefined ? '' : writtenIn(run);
    return ![ASSIGNS, CALLS, DELETES].some((form) => form.test(written)) || DEFINES.test(written);
  });
}

/** A text as far as it is written, with a mark for each part that is computed. */
function writtenIn(text: PyNode): string {
  if (text.type === 'binary_operator' && text.operator?.text === '+')
    return text.named.map(writtenIn).join('');
  if (text.type === 'parenthesized_expression' || text.type === 'concatenated_string')
    return text.named.map(writtenIn).join('');
  // `"line.{}()".format(name)`
  const filled = text.type === 'call' && methodName(text) === 'format' ? receiverOf(text) : undefined;
  if (filled !== undefined) return writtenIn(filled).replace(/\{[^{}]*\}/g, '\0');
  if (text.type !== 'string') return '\0';
  return text.named
    .map(({ type, text: piece }) =>
      type === 'interpolation' ? '\0' : type === 'string_content' ? piece.replace(/\\(?=["'])/g, '') : '',
    )
    .join('');
}

/** The dotted names of what a statement imports, or imports from. */
function importedBy({ parent: statement }: PyNode): readonly string[] {
  if (statement?.type === 'import_from_statement') return [statement.module_name?.text ?? ''];
  if (statement?.type !== 'import_statement') return [];
  return statement.named.map((each) => (each.name ?? each).text);
}

/** Whether a loader of its own copies what it is given, or has others do so: nothing of that stays where it was loaded. */
function copiesGiven(module: PyModule, method: PyNode): boolean {
  // What is around it may do more.
  if (decoratorsOf(method).length > 0) return false;
  if (handsAllOn(module, method)) return true;
  const name = stateOf(method);
  if (name === undefined) return false;
  if (isUnused(module, method, name)) return true;
  const keywords = (module.codeOf(method).match(/\*\*/g) ?? []).length;
  if (keywords > 0 && !(keywords === 2 && handsKeywordsOn(module, method))) return false;
  const { loads, strays } = fateOfParameter(module, name);
  if (strays.length > 0 || !loads.every(({ node }) => leavesTensors(module, method, node))) return false;
  return loads.length > 0 || /\.copy_\(/.test(module.codeOf(method));
}

/** The parameter that gets the state, by its place or as `state_dict=…`. */
function stateOf(method: PyNode): PyNode | undefined {
  const [, name, ...others] = (method.parameters?.named ?? []).map((each) =>
    each.type === 'identifier' ? each : (each.name ?? each.named[0] ?? each),
  );
  if (name?.type !== 'identifier' || /splat/.test(name.parent?.type ?? '')) return undefined;
  const isOther = others.some(
    ({ text, parent }) => text === 'state_dict' || /^(?:list_splat|\*)/.test(parent?.type ?? ''),
  );
  return isOther && name.text !== 'state_dict' ? undefined : name;
}

/** What a method never looks at it does not keep, as one that only raises an error. */
function isUnused(module: PyModule, method: PyNode, name: PyNode): boolean {
  const isRead = module.reads(module.scopeOf(method), name.text).length > 0;
  return !isRead && !/\b(?:locals|vars|eval|exec)\(/.test(module.codeOf(method)) && !module.mentions(FRAMES);
}

/** Without `assign`, or with that of the method itself, which is `False` unless its caller says otherwise. */
function leavesTensors(module: PyModule, method: PyNode, load: PyNode): boolean {
  const assign = keywordValue(load, 'assign') ?? argumentsOf(load)[2];
  if (hasSplat(load) && !handsKeywordsOn(module, method)) return false;
  if (assign === undefined || assign.type === 'keyword_argument' || assign.text === 'False') return true;
  const own = method.parameters?.named[3];
  const isOwn = own !== undefined && own.name?.text === 'assign' && own.value?.text === 'False';
  return (
    isOwn &&
    assign.text === 'assign' &&
    module.resolve(assign) === module.scopeOf(method) &&
    module.writes(module.scopeOf(method), 'assign').length === 1
  );
}

/** `def load_state_dict(self, state, **kwargs): super().load_state_dict(state, **kwargs)` */
function handsKeywordsOn(module: PyModule, method: PyNode): boolean {
  const last = method.parameters?.named.at(-1);
  const name = last?.type === 'dictionary_splat_pattern' ? last.named[0] : undefined;
  if (name === undefined || /\b(?:locals|vars|eval|exec)\(/.test(module.codeOf(method))) return false;
  const scope = module.scopeOf(method);
  const reads = module.reads(scope, name.text);
  return (
    module.writes(scope, name.text).length === 1 &&
    reads.length === 1 &&
    reads.every(({ parent: splat }) => {
      const call = splat?.type === 'dictionary_splat' ? splat.parent?.parent : undefined;
      return call?.type === 'call' && methodName(call) === 'load_state_dict';
    })
  );
}

/** `def load_state_dict(self, *args, **kwargs): return self.net.load_state_dict(*args, **kwargs)` */
function handsAllOn(module: PyModule, method: PyNode): boolean {
  const [, ...given] = method.parameters?.named ?? [];
  if (given.length === 0 || !given.every(({ type }) => /_splat_pattern$/.test(type))) return false;
  if (/\b(?:locals|vars|eval|exec)\(/.test(module.codeOf(method))) return false;
  return given.every((each) => {
    const name = each.named[0]?.text ?? '';
    const scope = module.scopeOf(method);
    const reads = module.reads(scope, name);
    return (
      module.writes(scope, name).length === 1 &&
      reads.length > 0 &&
      reads.every(({ parent: splat }) => {
        const call = splat?.parent?.type === 'argument_list' ? splat.parent.parent : undefined;
        const isSame = splat?.type.replace(/_splat$/, '') === each.type.replace(/_splat_pattern$/, '');
        const takesMore = call === undefined || !argumentsOf(call).every(({ type }) => /_splat$/.test(type));
        return isSame && !takesMore && methodName(call) === 'load_state_dict';
      })
    );
  });
}

/** The same, by nothing but the loading of its base, so that what it is given gets nowhere else. */
function copiesByBase(module: PyModule, method: PyNode): boolean {
  if (!copiesGiven(module, method)) return false;
  const name = stateOf(method);
  if (name === undefined) return false;
  const { loads } = fateOfParameter(module, name);
  if (loads.length === 0) return isUnused(module, method, name);
  return loads.every(({ node }) => receiverOf(node)?.function?.text === 'super');
}
