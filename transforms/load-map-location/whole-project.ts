import type { Answer } from '../../src/semantic/answer.js';
import type { PyModule } from '../../src/semantic/module.js';
import { wholeName } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { type Look, lookAt } from './file-look.js';
import { isOther, type Keeper } from './keeper.js';
import { hasOwnOptimizers, loadsAsUsual, mayOwnStates } from './loading-class.js';

/**
 * Whether every object that this program can get hold of, and that has a `load_state_dict`, copies what it loads: no file of the
 * project has a way of its own, and none of them imports a package of which the library knows that it has. What callers
 * outside of the project hand in is of such packages too; where no program shows what that is for, nobody knows.
 */
export function allLoadPlainly(module: PyModule, receiver: PyNode): Answer {
  const keepers = module.memo(keepersOfProgram, module);
  return keepers?.every((keeper) => isOther(module, receiver, keeper)) ? 'yes' : 'unknown';
}

/** Classes of the program that keep something of what they load. */
function keepersOfProgram(module: PyModule): readonly Keeper[] | undefined {
  const own = lookAt(module.alone);
  const all = [own];
  for (const word of ['import', 'load_state_dict', 'class', 'setattr']) {
    const found = module.around.summaries({ word, beside: [] }, lookAt);
    if (found === undefined) return undefined;
    all.push(...found);
  }
  const files = filesOfProgram(own, [...new Map(all.map((file) => [file.place, file])).values()]);
  const places = new Set(all.flatMap(({ place }) => partsOf(place)));
  const asksForStates = files.some((file) => file.asksForStates);
  const mayAssign = files.some((file) => file.mayAssign) && files.some((file) => file.handsKeywordsOn);
  const arePlain =
    !mayAssign &&
    files.every(
      ({ imports, isOwnWay, quantizers }) =>
        !isOwnWay &&
        quantizers.every((dotted) => places.has(dotted)) &&
        imports.every(
          (dotted) =>
            places.has(dotted) ||
            loadsAsUsual(dotted) ||
            hasOwnOptimizers(dotted) ||
            (mayOwnStates(dotted) && !asksForStates),
        ),
    );
  const isRun = files.some(({ isScript, runs }) => isScript || runs.some((dotted) => places.has(dotted)));
  if (!arePlain || !isRun || !areLists(module, files)) return undefined;
  return [...keepersAmong(module, files), ...ownOptimizers(files, places)];
}

/** Whether the attributes that a file relies on list the same wherever they are named. */
function areLists(module: PyModule, files: readonly Look[]): boolean {
  const words = files.flatMap(({ lists }) => lists);
  if (words.length > 0 && files.some((file) => file.setsByText)) return false;
  return words.every((word) => {
    const others = module.around.summaries({ word, beside: [] }, lookAt);
    const isHere = module.alone.words(word).length > 0;
    const all = [...(isHere ? [lookAt(module.alone)] : []), ...(others ?? [])];
    return others !== undefined && all.every(({ lists }) => lists.includes(word));
  });
}

/** The files whose objects can meet those of a file: it, those that import it, and what any of these imports, by however many steps. */
function filesOfProgram(own: Look, all: readonly Look[]): readonly Look[] {
  const byPart = new Map<string, Look[]>();
  for (const file of all)
    for (const part of partsOf(file.place)) byPart.set(part, [...(byPart.get(part) ?? []), file]);
  const imported = new Map(
    all.map((file) => [file, file.imports.flatMap((dotted) => filesAt(byPart, dotted))]),
  );
  const importers = new Map<Look, Look[]>();
  for (const [file, others] of imported)
    for (const other of others) importers.set(other, [...(importers.get(other) ?? []), file]);
  const users = reached(own, (file) => importers.get(file) ?? []);
  const files = [...new Set(users.flatMap((user) => reached(user, (file) => imported.get(file) ?? [])))];
  const isKnown = users.some(({ isProgram }) => isProgram) && !files.some(({ importsMore }) => importsMore);
  return isKnown ? files : all;
}

function reached(first: Look, next: (file: Look) => readonly Look[]): readonly Look[] {
  const found = new Set([first]);
  for (const file of found) for (const other of next(file)) found.add(other);
  return [...found];
}

/** Those that an import may lead to, and the packages around them. */
function filesAt(byPart: ReadonlyMap<string, readonly Look[]>, dotted: string): readonly Look[] {
  const names = dotted.split('.');
  const packages = names.map((_, index) => names.slice(0, index).join('.'));
  const around = packages.flatMap((name) =>
    (byPart.get(name) ?? []).filter(({ place }) => `.${place}`.endsWith(`.${name}`)),
  );
  return [...(byPart.get(dotted) ?? []), ...around];
}

/** Where one of them keeps something, what another hands on may reach it. */
function keepersAmong(module: PyModule, files: readonly Look[]): readonly Keeper[] {
  if (files.every(({ areCopying }) => areCopying)) return [];
  const isChanged = files.some(({ givesMethods }) => givesMethods);
  return files
    .flatMap(({ loaders }) => loaders)
    .map(({ name, knows }) => ({ name, knows: isChanged || isTakenUp(module, name) ? undefined : knows }));
}

/** Those of packages: nothing that modules have is theirs. */
function ownOptimizers(files: readonly Look[], places: ReadonlySet<string>): readonly Keeper[] {
  const isThere = files.some(({ imports }) =>
    imports.some((dotted) => !places.has(dotted) && hasOwnOptimizers(dotted)),
  );
  return isThere ? [{ name: '', knows: [] }] : [];
}

/** Whether some file does more with a class than to make an instance of it: it may inherit from it, or change it. */
function isTakenUp(module: PyModule, name: string): boolean {
  const files = module.around.summaries({ word: name, beside: [] }, takesUp);
  return files === undefined || files.includes(true) || takesUp(module.alone, name);
}

function takesUp(alone: PyModule, name: string): boolean {
  return alone.words(name).some((node) => {
    if (node.type !== 'identifier' || node.text !== name) return false;
    const whole = wholeName(node);
    const { parent } = whole;
    const statement = node.closest('import_from_statement', 'import_statement', 'block', 'module');
    if (statement?.type.startsWith('import')) return node.closest('aliased_import') !== undefined;
    if (parent?.type === 'class_definition') return parent.name !== whole;
    if (parent?.type === 'call') return parent.function !== whole;
    return parent?.type !== 'argument_list' || parent.parent?.function?.text !== 'super';
  });
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
