import { packageOf } from '../../src/library/library.js';
import type { Answer } from '../../src/semantic/answer.js';
import type { PyModule } from '../../src/semantic/module.js';
import { isProgram } from '../../src/semantic/program.js';
import { loadsAsTorchDoes } from '../../src/torch/catalog-modules.js';
import { loadsPlainly } from './loading-class.js';

/**
 * Whether every object that this program can get hold of, and that has a `load_state_dict`, copies what it loads: no file of the
 * project has a way of its own, and all that any of them imports is the project's, torch's, or of a package that loads as torch
 * does or has nothing to load. What can be installed, or has no program, may be handed objects by others.
 */
export function allLoadPlainly(module: PyModule): Answer {
  return module.memo(findPlainLoading, module);
}

function findPlainLoading(module: PyModule): Answer {
  const own = lookAt(module.alone);
  if (own === OWN_WAY || (!own.isProgram && isInstallable(module))) return 'unknown';
  const others = module.around.summaries({ word: 'import', beside: [] }, lookAt);
  if (others === undefined) return 'unknown';
  const files: Look[] = [];
  for (const file of [own, ...others]) {
    if (file === OWN_WAY) return 'unknown';
    files.push(file);
  }
  const places = new Set(files.flatMap(({ place }) => partsOf(place)));
  const areKnown = files.every(({ imports }) =>
    imports.every((dotted) => places.has(dotted) || isKnown(dotted)),
  );
  return areKnown && files.some((file) => file.isProgram) ? 'yes' : 'unknown';
}

const OWN_WAY = 'own way';

interface Look {
  /** Its path, as an import spells it: `.lib.nets` for `lib/nets.py`. */
  readonly place: string;
  readonly isProgram: boolean;
  /** What it imports, `.lib.nets` for a relative import; of the others the first two names. */
  readonly imports: readonly string[];
}

/** Classes that load in their own way; that of diffusers keeps what it is given. */
const OWN_METHODS =
  /\bdef\s+(?:load_state_dict|_load_from_state_dict|set_extra_state)\b|\bload_state_dict\s*=(?!=)|\bEMAModel\b/;
/** Settings that are tensors, or may be: an optimizer leaves them where they are loaded. */
const OWN_OPTIMIZER =
  /\bclass\s+\w+\s*\([^)]*(?:Optimizer|\boptim\.(?!lr_scheduler))|\bcapturable\b|\b(?:lr|betas?|momentum)\s*=\s*(?:\w+\.)*(?:as_)?tensor\(/i;
/** Code that gets its classes by a name that is computed as a whole; one that begins as `"models."` says where they are. */
const COMPUTED =
  /\b(?:__import__|hydra|runpy|locate|entry_points|pkg_resources)\b|\bhub\.load\s*\(|\btorch\.hub\s+import[^\n]*\bload\b|(?<![.\w])exec\(|(?<!\.)\beval\((?!\s*f?["'])|\bimport_module\((?!\s*f?["'][\w.])/;
const BY_PREFIX = /\bimport_module\(\s*f?["']([\w.]+)/g;
const IMPORT =
  /^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b|import[ \t]+([\w.]+(?:[ \t]+as[ \t]+\w+)?(?:[ \t]*,[ \t]*[\w.]+(?:[ \t]+as[ \t]+\w+)?)*))/gm;

function lookAt(alone: PyModule): Look | typeof OWN_WAY {
  const { path, text } = alone;
  if (!loadsPlainly(alone.code) || [OWN_METHODS, OWN_OPTIMIZER, COMPUTED].some((way) => alone.mentions(way)))
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

function isKnown(dotted: string): boolean {
  const [root = ''] = dotted.split('.', 1);
  const known = packageOf(root);
  return (
    root === 'torch' ||
    known?.stateless === true ||
    (known?.harmless === true && known.ownLoading !== true) ||
    loadsAsTorchDoes(`${root}.x`)
  );
}

/** It can be installed, so that code outside of it may call its functions. */
function isInstallable(module: PyModule): boolean {
  const project = module.around.file('pyproject.toml')?.text ?? '';
  return (
    module.around.file('setup.py') !== undefined ||
    /^\[(?:project|tool\.poetry|build-system)\]/m.test(project)
  );
}
