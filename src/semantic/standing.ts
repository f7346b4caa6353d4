import { DEFAULT_FLOORS, KEYWORDS_SINCE, NAMES_SINCE, type Since } from '../library/since.js';
import type { PyNode } from '../syntax/node.js';
import type { Answer } from './answer.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { importedPath } from './names.js';
import { isBesideOldTorch, isForOldTorch, isOfOldDays } from './old-code.js';
import { compareVersions, type Pin, type Premise } from './versions.js';

/** The oldest Python that has the default of torch. */
const OLDEST_PYTHON = '3.8';
/** The oldest that the Python package index has. */
const OLDEST_TORCH = '1.0';

/** Whether a package is some version or newer, where the code of a file runs, and what says so. */
export interface Standing {
  readonly answer: Answer;
  /** For `yes`. */
  readonly premise?: Premise;
  /** For `no`: the line that keeps the package below. */
  readonly pin?: Pin;
  /** For `unknown`, where something speaks of the package: what it says. */
  readonly doubt?: string;
}

export function isAtLeast(module: PyModule, name: string, version: string): Answer {
  return standingOf(module, name, version).answer;
}

/** `yes` where the project installs a package, whatever its version. Where nothing says so, it may be there all the same. */
export function isInstalled({ versions }: PyModule, name: string): Answer {
  return versions.installs(name) === undefined ? 'unknown' : 'yes';
}

/** By the project's own word, by what the file uses, or by the default floor: in this order. */
export function standingOf(module: PyModule, name: string, version: string): Standing {
  const { versions } = module;
  const pin = versions.pinBelow(name, version);
  if (pin !== undefined) return { answer: 'no', pin };
  const [decisive] = versions.decisive(name);
  const yes = (because: string, floor?: string): Standing => {
    const premise = { package: name, atLeast: version, because };
    return { answer: 'yes', premise: floor === undefined ? premise : { ...premise, assumed: floor } };
  };
  if (decisive !== undefined && versions.isAtLeast(name, version) === 'yes')
    return yes(words(name, decisive));
  const used = module.alone.memo(evidenceIn, module.alone).find(
    (each) =>
      each.package === name &&
      compareVersions(each.version, version) >= 0 &&
      // Against a file that allows older versions, only what runs whenever this one is imported is a proof.
      (decisive === undefined || each.isAtImport),
  );
  if (used !== undefined) return yes(`${module.path}:${used.line} uses \`${used.what}\``);
  if (decisive !== undefined)
    return {
      answer: 'unknown',
      doubt: doubtIn(versions.decisive(name), versions.allowingOlder(name, version)),
    };
  const floor = floorOf(module, name);
  if (floor !== undefined && compareVersions(floor, version) >= 0)
    return yes(`nothing pins ${name}: ${floor} or newer is assumed`, floor);
  const isOld = name === 'torch' && (isForOldTorch(module) || isOfOldDays(module));
  if (isOld) return { answer: 'unknown', doubt: 'this file is written for 0.3' };
  const isBesideOld = name === 'torch' && isBesideOldTorch(module);
  return {
    answer: 'unknown',
    ...(isBesideOld && { doubt: 'another file of the project is written for 0.3' }),
  };
}

function words(name: string, { source, text, authority }: Pin): string {
  return authority === 'environment' ? `${source} has ${name} ${text}` : `${source} says \`${name} ${text}\``;
}

function doubtIn(pins: readonly Pin[], older: Pin | undefined): string {
  const pin = older ?? pins[0];
  const frozen = pins.find(({ isFrozen, from }) => isFrozen === true && from === undefined);
  if (frozen !== undefined) return `${frozen.source} takes one revision of it`;
  return pin === undefined ? '' : `${pin.source} says \`${pin.text}\``;
}

/** What is assumed of a package that nothing speaks of; undefined where the project may well be older. */
function floorOf(module: PyModule, name: string): string | undefined {
  const { versions } = module;
  const isOldPython = versions.pinBelow('python', OLDEST_PYTHON) !== undefined;
  if (isOldPython || isForOldTorch(module) || isBesideOldTorch(module)) return undefined;
  const dated = [...DEFAULT_FLOORS].flatMap(([each, floor]) =>
    versions.pinBelow(each, floor) === undefined ? [] : [each],
  );
  if (dated.length === 0 && !isOfOldDays(module)) return DEFAULT_FLOORS.get(name);
  return name === 'torch' ? OLDEST_TORCH : undefined;
}

interface Evidence extends Since {
  readonly line: number;
  readonly what: string;
  /** It runs when the file is imported, not only when one of its functions is called. */
  readonly isAtImport: boolean;
}

/** A file that asks for versions, or whether something is there, may do without what it uses. */
const ASKS =
  /__version__|\bhasattr\s*\(|\bgetattr\s*\(\s*(?:torch|transformers|trl)\b|version\.parse|LooseVersion|importlib[._]metadata|find_spec|\bis_(?:torch|transformers|peft|trl|accelerate)_\w*(?:version|available|greater|less)/;

/** Uses of what exists only since some version, outside of all branches. */
function evidenceIn(alone: PyModule): readonly Evidence[] {
  if (alone.mentions(ASKS)) return [];
  const found: Evidence[] = [];
  const add = ({ package: name, version }: Since, node: PyNode, what: string) => {
    if (!isGuarded(node))
      found.push({
        package: name,
        version,
        line: alone.lines.position(node.start).line,
        what,
        isAtImport: node.closest('function_definition', 'lambda') === undefined,
      });
  };
  for (const [path, since] of NAMES_SINCE) {
    for (const node of alone.words(path.slice(path.lastIndexOf('.') + 1))) {
      const isMember = node.parent?.type === 'attribute' && node.parent.attribute === node;
      if (isMember && node.parent !== undefined && qualifiedName(alone, node.parent) === path)
        add(since, node, path);
      const statement = node.closest('import_from_statement', 'import_statement');
      if (statement !== undefined && importsIt(statement, path)) add(since, node, path);
    }
  }
  for (const [keyword, rows] of KEYWORDS_SINCE) {
    for (const node of alone.wordsSet(keyword)) {
      const argument = node.parent?.type === 'keyword_argument' ? node.parent : undefined;
      const call = argument?.name === node ? argument.parent?.parent : undefined;
      const callee = call?.type === 'call' ? call.function : undefined;
      const path = callee && qualifiedName(alone, callee);
      const since = path === undefined ? undefined : rows.find((row) => row.callee.test(path));
      if (since !== undefined) add(since, node, `${keyword}=`);
    }
  }
  return found;
}

function importsIt(statement: PyNode, path: string): boolean {
  const isPlain = statement.type === 'import_statement';
  return [...statement.walk()].some((inner) => {
    // `import a.b.c` binds `a`, and loads all of it.
    const loaded = isPlain && inner.type === 'dotted_name' ? inner.text : undefined;
    const bound = loaded ?? (inner.type === 'identifier' ? importedPath(inner) : undefined);
    return bound === path || bound?.startsWith(`${path}.`) === true;
  });
}

const GUARDS: ReadonlySet<string> = new Set([
  'boolean_operator',
  'case_clause',
  'conditional_expression',
  'except_clause',
  'if_statement',
  'try_statement',
  'while_statement',
  'with_statement',
]);

/** Whether it runs only under some condition, or where its failing is waited for. */
function isGuarded(node: PyNode): boolean {
  for (const ancestor of node.ancestors()) {
    if (!GUARDS.has(ancestor.type)) continue;
    // `with torch.inference_mode():` runs; what `with suppress(…):` holds may fail.
    if (ancestor.type !== 'with_statement') return true;
    if (/\b(?:suppress|raises)\b/.test(ancestor.text.slice(0, 200))) return true;
  }
  return false;
}
