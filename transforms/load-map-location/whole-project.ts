import type { Answer } from '../../src/semantic/answer.js';
import type { PyModule } from '../../src/semantic/module.js';
import { isProgram } from '../../src/semantic/program.js';
import type { PyNode } from '../../src/syntax/node.js';
import { fateOfParameter } from './loaded-value.js';
import { hasTensorSettings, loadsAsUsual, loadsPlainly } from './loading-class.js';

/**
 * Whether every object that this program can get hold of, and that has a `load_state_dict`, copies what it loads: no file of the
 * project has a way of its own, and none of them imports a package of which the library knows that it has. What can be installed, or has no program, may be handed objects by others.
 */
export function allLoadPlainly(module: PyModule): Answer {
  return module.memo(findPlainLoading, module);
}

function findPlainLoading(module: PyModule): Answer {
  const own = lookAt(module.alone);
  if (own === OWN_WAY || (!own.isProgram && isInstallable(module))) return 'unknown';
  const others = ['import', 'load_state_dict'].map((word) =>
    module.around.summaries({ word, beside: [] }, lookAt),
  );
  const files: Look[] = [own];
  for (const found of others) {
    if (found === undefined) return 'unknown';
    for (const file of found) {
      if (file === OWN_WAY) return 'unknown';
      files.push(file);
    }
  }
  const places = new Set(files.flatMap(({ place }) => partsOf(place)));
  const arePlain = files.every(({ imports }) =>
    imports.every((dotted) => places.has(dotted) || loadsAsUsual(dotted)),
  );
  return arePlain && files.some((file) => file.isProgram) ? 'yes' : 'unknown';
}

const OWN_WAY = 'own way';

interface Look {
  /** Its path, as an import spells it: `.lib.nets` for `lib/nets.py`. */
  readonly place: string;
  readonly isProgram: boolean;
  /** What it imports, `.lib.nets` for a relative import; of the others the first two names. */
  readonly imports: readonly string[];
}

/** Parts that load in their own way; the class of diffusers keeps what it is given. */
const OWN_METHODS =
  /\bdef\s+(?:_load_from_state_dict|set_extra_state)\b|\bload_state_dict\s*=(?!=)|\bEMAModel\b/;
/** Settings that are tensors, or may be: an optimizer leaves them where they are loaded. */
const TENSOR_SETTINGS =
  /\bcapturable\b|\b(?:lr|betas?|momentum)\s*=\s*(?:\w+\.)*(?:as_)?tensor\(|\bgroup\w*\[[^\]\n]+\]\s*=[^\n]*\b(?:as_tensor|empty|full|ones|tensor|zeros)\(/i;
/** Code that makes classes of a text, or gets them from packages that it names nowhere. What `import_module` gives is a file or a package. */
const COMPUTED = /\b(?:__import__|hydra|runpy|locate)\b|entry_points?\b|(?<![.\w])exec\(/;
const BY_PREFIX = /\bimport_module\(\s*f?["']([\w.]+)/g;
const IMPORT =
  /^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b|import[ \t]+([\w.]+(?:[ \t]+as[ \t]+\w+)?(?:[ \t]*,[ \t]*[\w.]+(?:[ \t]+as[ \t]+\w+)?)*))/gm;

function lookAt(alone: PyModule): Look | typeof OWN_WAY {
  const { path, text } = alone;
  if (
    !loadsPlainly(alone.code) ||
    [OWN_METHODS, TENSOR_SETTINGS, COMPUTED].some((way) => alone.mentions(way))
  )
    return OWN_WAY;
  if (!loadersOf(alone).every((method) => copiesGiven(alone, method)) || hasOddOptimizer(alone))
    return OWN_WAY;
  const place = `.${path.replace(/\.\w+$/, '').replaceAll('/', '.')}`;
  const imports = [...text.matchAll(IMPORT)].flatMap(([, from, several]) =>
    from === undefined
      ? (several ?? '').split(',').map((each) => each.trim().split(/\s/, 1)[0] ?? '')
      : [from],
  );
  for (const [, prefix = ''] of text.matchAll(BY_PREFIX)) imports.push(prefix.replace(/\.$/, ''));
  return {
    place: place.replace(/\.__init__$/, ''),
    isProgram: isProgram(alone),
    imports: [...new Set(imports.map((dotted) => spelledOut(place, dotted)))],
  };
}

/** The methods of its classes by which they load. */
function loadersOf(module: PyModule): readonly PyNode[] {
  return module.at('load_state_dict').flatMap(({ parent }) => {
    const isMethod =
      parent?.type === 'function_definition' && parent.parent?.parent?.type === 'class_definition';
    return isMethod && parent.name?.text === 'load_state_dict' ? [parent] : [];
  });
}

/** Whether a loader of its own copies what it is given, or has others do so: nothing of that stays where it was loaded. */
function copiesGiven(module: PyModule, method: PyNode): boolean {
  const given = method.parameters?.named[1];
  const name = given?.type === 'identifier' ? given : (given?.name ?? given?.named[0]);
  if (name?.type !== 'identifier' || /\bassign\b|\*\*/.test(module.codeOf(method))) return false;
  const { loads, strays } = fateOfParameter(module, name);
  return strays.length === 0 && (loads.length > 0 || /\.copy_\(/.test(module.codeOf(method)));
}

function hasOddOptimizer(module: PyModule): boolean {
  return module.at('class').some(({ parent: node }) => {
    const bases = node?.type === 'class_definition' ? node.superclasses?.text : undefined;
    return (
      node !== undefined &&
      /Optimizer|\boptim\.(?!lr_scheduler)/.test(bases ?? '') &&
      hasTensorSettings({ module, node })
    );
  });
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

/** It can be installed, so that code outside of it may call its functions. */
function isInstallable(module: PyModule): boolean {
  const project = module.around.file('pyproject.toml')?.text ?? '';
  return (
    module.around.file('setup.py') !== undefined ||
    /^\[(?:project|tool\.poetry|build-system)\]/m.test(project)
  );
}
