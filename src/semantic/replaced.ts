import type { PyNode } from '../syntax/node.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { remembered } from './remembered.js';
import { argumentsOf, isCallee } from './statements.js';
import { plainString } from './strings.js';
import { isTestFile } from './test-code.js';

/** One place that puts something else where a library has a function or a class. */
interface Replacement {
  readonly path: string;
  readonly file: string;
}

/**
 * The file of the project that puts something else in the place of a library's function or class, or may, as a sentence
 * names it: `lib.load = …`, `setattr(lib, "load", …)`, `patch("lib.load")`. Tests do so for themselves and do not count.
 */
export const replacedInProject = remembered((module: PyModule, path: string): string | undefined => {
  for (const word of path.split('.').slice(1)) {
    const quoted = ['"', "'"].flatMap((mark) => [`${mark}${word}${mark}`, `.${word}${mark}`]);
    const mention = { word, beside: [], needs: [`.${word}=`, `.${word} =`, ...quoted] };
    const others = module.around.summaries(mention, replacementsIn);
    if (others === undefined) return `one of the many files that name \`${word}\``;
    const found = [...replacementsIn(module.alone, word), ...others.flat()].find(
      (each) => path === each.path || path.startsWith(`${each.path}.`),
    );
    if (found !== undefined) return `\`${found.file}\``;
  }
  return undefined;
});

/**
 * The same for a function of the project: `helpers.score = …` of any file. By its name alone, since a module has as many paths
 * as it has importers.
 */
export const replacedByName = remembered((module: PyModule, name: string): string | undefined => {
  const quoted = ['"', "'"].flatMap((mark) => [`, ${mark}${name}${mark}`, `.${name}${mark}`]);
  const mention = { word: name, beside: [], needs: [`.${name}=`, `.${name} =`, ...quoted] };
  const others = module.around.summaries(mention, replacementsIn);
  if (others === undefined) return `one of the many files that name \`${name}\``;
  const found = [...replacementsIn(module.alone, name), ...others.flat()];
  const replaced = found.find(({ path }) => path.endsWith(`.${name}`));
  return replaced && `\`${replaced.file}\``;
});

/** The first method of torch's tensors, modules or layers that the project replaces, or may: `nn.Linear.forward = …`. */
export function methodReplaced(module: PyModule): { readonly path: string; readonly by: string } | undefined {
  return module.memo(findMethodReplaced, module);
}

/** What is called by its class, and what runs a layer. */
const METHODS: readonly (readonly [word: string, needs: readonly string[]])[] = [
  ['Tensor', ['Tensor.']],
  ['Module', ['Module.']],
  ['forward', ['.forward =', '.forward=']],
  ['__call__', ['.__call__ =', '.__call__=']],
];

function findMethodReplaced(module: PyModule): ReturnType<typeof methodReplaced> {
  for (const [word, needs] of METHODS) {
    const others = module.around.summaries({ word, beside: [], needs }, methodsReplacedIn);
    const found = [...methodsReplacedIn(module.alone, word), ...(others ?? []).flat()];
    const replaced = found.find(({ path }) => path.startsWith('torch.'));
    if (replaced !== undefined) return { path: replaced.path, by: `\`${replaced.file}\`` };
    if (others === undefined) return { path: word, by: `one of the many files that name \`${word}\`` };
  }
  return undefined;
}

function methodsReplacedIn(alone: PyModule, word: string): readonly Replacement[] {
  if (!/^[A-Z]/.test(word)) return replacementsIn(alone, word);
  const methods = alone.text.matchAll(new RegExp(`\\b${word}\\.(\\w+)[ \\t]*=(?!=)`, 'g'));
  return [...new Set([...methods].map(([, name = '']) => name))].flatMap((name) =>
    replacementsIn(alone, name),
  );
}

function replacementsIn(alone: PyModule, word: string): readonly Replacement[] {
  const { path: file, text } = alone;
  const places = new RegExp(`\\.[ \\t]*${word}[ \\t]*=(?!=)|["'](?:[\\w.]+\\.)?${word}["']`, 'g');
  if (isTestFile(file, text)) return [];
  return [...text.matchAll(places)].flatMap(({ index, 0: match }) => {
    const node = alone.root.descendantAt(index + match.indexOf(word));
    const string = node.closest('string');
    const path =
      assignedPath(alone, node) ?? namedPath(alone, string) ?? (string && computedPath(alone, word));
    return path === undefined ? [] : [{ path, file }];
  });
}

/** What nobody can call. */
const SETTING = /^(?:integer|float|string|true|false|none|list|dictionary|tuple)$/;

/** `lib.load = …` */
function assignedPath(alone: PyModule, name: PyNode): string | undefined {
  const attribute = name.parent?.attribute === name ? name.parent : undefined;
  const assignment = attribute?.parent;
  if (attribute === undefined || assignment?.type !== 'assignment') return undefined;
  if (SETTING.test(assignment.right?.type ?? '')) return undefined;
  return assignment.left === attribute ? qualifiedName(alone, attribute) : undefined;
}

/** `patch("lib.load")`, `setattr(lib, "load", …)`, `lib.__dict__["load"] = …`; asking by `getattr` or `hasattr` replaces nothing. */
function namedPath(alone: PyModule, string: PyNode | undefined): string | undefined {
  const name = string && plainString(string);
  const call = string?.parent?.parent;
  if (string === undefined || name === undefined || call === undefined) return undefined;
  if (string.parent?.type === 'subscript') {
    const object = string.parent.value?.object;
    const lib = object && qualifiedName(alone, object);
    return lib === undefined ? undefined : `${lib}.${name}`;
  }
  if (call.type !== 'call' || /^(?:get|has)attr$/.test(call.function?.text ?? '')) return undefined;
  if (name.includes('.')) return name;
  const [object] = argumentsOf(call);
  const lib = object && qualifiedName(alone, object);
  return lib === undefined ? undefined : `${lib}.${name}`;
}

/** `for name in ("load", "save"): setattr(lib, name, …)`: the name is somewhere in the file. */
function computedPath(alone: PyModule, word: string): string | undefined {
  for (const callee of alone.words('setattr')) {
    const call = isCallee(callee) ? callee.parent : undefined;
    const [object, name] = call === undefined ? [] : argumentsOf(call);
    const lib = object && qualifiedName(alone, object);
    if (lib !== undefined && name !== undefined && plainString(name) === undefined) return `${lib}.${word}`;
  }
  return undefined;
}
