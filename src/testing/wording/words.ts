import { calledDefinition, classAround } from '../../semantic/definitions.js';
import { possibleNames, qualifiedName } from '../../semantic/imports.js';
import { PyModule } from '../../semantic/module.js';
import { importedPath, roleOf } from '../../semantic/names.js';
import type { PyNode } from '../../syntax/node.js';
import type { PythonParser } from '../../syntax/parser.js';

/** A name that the files of a project give to something of theirs, and everywhere it is written. */
export interface FreeWord {
  readonly name: string;
  readonly isCalled: boolean;
  /** By file, the offsets of its places. */
  readonly places: ReadonlyMap<string, readonly number[]>;
}

export type Files = ReadonlyMap<string, string>;

/** What reads names as text: of such a project no name is free. */
const REFLECTION =
  /\b(?:getattr|setattr|hasattr|delattr|locals|globals|vars|exec|compile|attrgetter|methodcaller|patch)\s*\(|(?<![.\w])eval\s*\(|__dict__|__all__|__slots__|\bimport\s*\*|\bmatch\b.*:\n\s*case\b/;

/** Names that Python or torch looks up by themselves. */
const GIVEN =
  /^(?:__\w+__|_|forward|extra_repr|[gs]et_extra_state|setup_context|_(?:load_from|save_to)_state_dict|_(?:apply|call_impl|get_name)|[Tt]est\w*|\w*(?:Tests?|TestCase|Tester)|pytest\w*)$/;
/** `__repair`, which is `_Runner__repair` in a class called `Runner`: another name would make two of them. */
const PRIVATE = /^__(?!\w*__$)|^_[A-Za-z]\w*?__(?!$)/;

/** Classes whose subclasses may call their own methods and attributes as they like. */
const OPEN_BASES =
  /^(?:torch\.nn(?:\.modules(?:\.module)?)?\.Module|abc\.ABC|typing\.(?:Generic|NamedTuple|Protocol)|enum\.Enum|torch\.utils\.data\.(?:\w+\.)?(?:Iterable)?Dataset)$/;

/** The attributes that a project reads or calls and nowhere sets: its libraries'. */
export function foreignAttributes(files: Files, parser: PythonParser): ReadonlySet<string> {
  const { read, own } = attributesOf(modulesOf(files, parser));
  return new Set([...read].filter((name) => !own.has(name)));
}

/** The names that can be changed everywhere in a project without changing what it does; `foreign`: not as attributes. */
export function freeWords(
  files: Files,
  parser: PythonParser,
  foreign: ReadonlySet<string>,
): readonly FreeWord[] {
  if ([...files.values()].some((text) => REFLECTION.test(text))) return [];
  const modules = modulesOf(files, parser);
  const own = new Set([...files.keys()].map(dotted));
  const words = new Map<string, Uses>();
  for (const module of modules) {
    for (const node of identifiersOf(module)) {
      const uses = words.get(node.text) ?? new Uses();
      words.set(node.text, uses);
      uses.add(module, node, own);
    }
  }
  const { own: attributes } = attributesOf(modules);
  const isSpread = [...files.values()].some((text) => /\*\*\s*\w/.test(text));
  return [...words].flatMap(([name, uses]) => {
    if (GIVEN.test(name) || PRIVATE.test(name)) return [];
    if ([...files.values()].some((text) => text.includes(`_${name}__`))) return [];
    if (isSpread && [...files.values()].some((text) => new RegExp(`["']${name}["']`).test(text))) return [];
    const places = uses.free(attributes.has(name) && !foreign.has(name));
    return places.size === 0 ? [] : [{ name, isCalled: uses.isCalled, places }];
  });
}

/** The files with other names in place of some. */
export function renamed(files: Files, names: ReadonlyMap<FreeWord, string>): Files {
  return new Map(
    [...files].map(([path, text]) => {
      const edits = [...names].flatMap(([{ name, places }, next]) =>
        (places.get(path) ?? []).map((start) => ({ start, end: start + name.length, next })),
      );
      edits.sort((a, b) => b.start - a.start);
      let result = text;
      for (const { start, end, next } of edits) result = result.slice(0, start) + next + result.slice(end);
      return [path, result];
    }),
  );
}

function modulesOf(files: Files, parser: PythonParser): readonly PyModule[] {
  return [...files]
    .filter(([path]) => path.endsWith('.py'))
    .map(([path, text]) => new PyModule(path, text, parser.parse(text)));
}

function identifiersOf(module: PyModule): readonly PyNode[] {
  return [...module.root.walk()].filter(({ type }) => type === 'identifier');
}

/** `pkg/net.py` is `pkg.net` to those that import it. */
function dotted(path: string): string {
  return path
    .replace(/(?:\/__init__)?\.py$/, '')
    .split('/')
    .join('.');
}

function attributesOf(modules: readonly PyModule[]) {
  const read = new Set<string>();
  const own = new Set<string>();
  for (const module of modules) {
    for (const node of identifiersOf(module)) {
      if (isAttribute(node)) read.add(node.text);
      if (definesMember(module, node)) own.add(node.text);
    }
  }
  return { read, own };
}

function isAttribute(node: PyNode): boolean {
  return node.parent?.type === 'attribute' && node.parent.attribute === node;
}

/** A method, a variable of a class body, or `self.x = …`, of a class whose bases leave its names to it. */
function definesMember(module: PyModule, node: PyNode): boolean {
  const around = isAttribute(node) ? classAround(node) : undefined;
  if (around !== undefined) {
    const attribute = node.parent;
    const isSet = /assignment$/.test(attribute?.parent?.type ?? '') && attribute?.parent?.left === attribute;
    return isSet && attribute?.object?.text === around.self && isOpen(module, around.classNode);
  }
  if (isAttribute(node)) return false;
  const classNode = memberOf(module, node);
  return classNode !== undefined && isOpen(module, classNode);
}

/** The class in whose own scope a name is. */
function memberOf(module: PyModule, node: PyNode): PyNode | undefined {
  const role = roleOf(node);
  if (role === 'none' || role === 'parameter') return undefined;
  const definition = role === 'def' || role === 'class' ? node.parent : undefined;
  const scope = definition === undefined ? module.resolve(node) : module.scopeAt(definition);
  return scope?.kind === 'class' ? scope.node : undefined;
}

function isOpen(module: PyModule, classNode: PyNode): boolean {
  const bases = classNode.superclasses?.named ?? [];
  return bases.every((base) => {
    if (base.text === 'object') return true;
    const path = qualifiedName(module, base);
    if (path !== undefined && OPEN_BASES.test(path)) return true;
    const scope = base.type === 'identifier' ? module.resolve(base) : undefined;
    const [write] = scope === undefined ? [] : module.writes(scope, base.text);
    const own = write?.parent?.type === 'class_definition' ? write.parent : undefined;
    // `class list(list)` has the one that was there before it.
    return own !== undefined && own !== classNode && isOpen(module, own);
  });
}

/** Where a name is written in a project, by what it is there. */
class Uses {
  /** Variables, and keywords of functions of the project. */
  readonly #plain: [path: string, start: number][] = [];
  readonly #members: [path: string, start: number][] = [];
  /** Something else of the same name, which cannot be told apart. */
  #isForeign = false;
  #isLinked = false;
  isCalled = false;

  add(module: PyModule, node: PyNode, own: ReadonlySet<string>): void {
    const place: [string, number] = [module.path, node.start];
    const role = roleOf(node);
    const { parent } = node;
    if (parent?.type === 'call' || parent?.parent?.type === 'call')
      this.isCalled ||= parent.function === node;
    if (role === 'def' || role === 'class') this.isCalled = true;
    if (isAttribute(node)) this.#attribute(module, node, place, own);
    else if (parent?.type === 'keyword_argument' && parent.name === node) this.#keyword(module, node, place);
    else if (memberOf(module, node) !== undefined) this.#members.push(place);
    else if (role === 'import' || parent?.type === 'dotted_name' || parent?.type === 'aliased_import')
      this.#imported(node, place, own);
    else if (module.resolve(node) === undefined && role !== 'global') this.#isForeign = true;
    else this.#plain.push(place);
  }

  #attribute(module: PyModule, node: PyNode, place: [string, number], own: ReadonlySet<string>): void {
    const object = node.parent?.object;
    const path = object && qualifiedName(module, object);
    // `losses.score` of `try: import fast as losses`
    const paths = path !== undefined || object === undefined ? [path] : possibleNames(module, object);
    if (paths.some((each) => each !== undefined && isOwn(each, own))) this.#plain.push(place);
    else if (path === undefined) this.#members.push(place);
  }

  #keyword(module: PyModule, node: PyNode, place: [string, number]): void {
    const call = node.closest('call');
    const callee = call?.function;
    if (call === undefined || callee === undefined) {
      // A keyword of a class definition.
      this.#isForeign = true;
      return;
    }
    const definition = calledDefinition(module, call);
    if (definition !== undefined) {
      const isTaken = definition.type === 'function_definition' && takes(definition, node.text);
      if (isTaken) this.#plain.push(place);
      else this.#isForeign = true;
      this.#isLinked = true;
      return;
    }
    const path = qualifiedName(module, callee);
    // A library's own keyword stays as it is.
    if (
      path === undefined ||
      !/^(?:torch|numpy|transformers|accelerate|peft|trl|math|os|json|tqdm|wandb)\b/.test(path)
    )
      this.#isForeign = true;
  }

  #imported(node: PyNode, place: [string, number], own: ReadonlySet<string>): void {
    const from = node.closest('import_from_statement')?.module_name?.text;
    const isName = roleOf(node) === 'import' || node.closest('aliased_import') !== undefined;
    const alias = node.closest('aliased_import')?.alias;
    if (alias === node) this.#plain.push(place);
    else if (from !== undefined && isName && isOwn(from, own) && !from.split('.').includes(node.text))
      this.#plain.push(place);
    else this.#isForeign = true;
    if (importedPath(node) === undefined && from === undefined) this.#isForeign = true;
  }

  free(isOwnMember: boolean): ReadonlyMap<string, readonly number[]> {
    const places = new Map<string, number[]>();
    if (this.#isForeign || (this.#isLinked && this.#members.length > 0)) return places;
    for (const [path, start] of [...this.#plain, ...(isOwnMember ? this.#members : [])])
      places.set(path, [...(places.get(path) ?? []), start]);
    return places;
  }
}

function takes(functionNode: PyNode, name: string): boolean {
  const parameters = functionNode.parameters?.named ?? [];
  return parameters.some((each) => (each.name ?? each.named[0] ?? each).text === name || each.text === name);
}

function isOwn(path: string, own: ReadonlySet<string>): boolean {
  const plain = path.replace(/^\.+/, '');
  return (
    plain === '' ||
    [...own].some((name) => name === plain || name.endsWith(`.${plain}`) || plain.endsWith(`.${name}`))
  );
}
