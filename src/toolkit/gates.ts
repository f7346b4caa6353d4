import { row } from '../library/library.js';
import { caughtElsewhere } from '../semantic/catching.js';
import { shadowingOption } from '../semantic/command-line.js';
import { definedElsewhere, type Elsewhere, namedElsewhere } from '../semantic/elsewhere.js';
import type { Gate } from '../semantic/gate.js';
import { placeOf, shown } from '../semantic/gate.js';
import { arrives, type Given } from '../semantic/given.js';
import { isRebound, qualifiedName } from '../semantic/imports.js';
import { onlyUse, type Written } from '../semantic/literals.js';
import type { PyModule } from '../semantic/module.js';
import { ask, type Question } from '../semantic/question.js';
import { methodReplaced, replacedByName, replacedInProject } from '../semantic/replaced.js';
import { standingOf } from '../semantic/standing.js';
import { definitionRun } from '../semantic/star-imports.js';
import { starImports, within } from '../semantic/stars.js';
import { decoratorsOf, enclosingFunction, rootOf } from '../semantic/statements.js';
import type { PyNode } from '../syntax/node.js';
import { argumentsCalls, argumentsTakers } from '../torch/huggingface/huggingface.js';
import type { Proof } from './proof.js';

/**
 * Asks for a version of a package. `because` completes "before that, …": what an older one makes of the change.
 * A project that pins an older one is refused; one that does not say makes the finding unsafe.
 */
export function requireVersion(
  proof: Proof,
  module: PyModule,
  name: string,
  version: string,
  because: string,
): Proof {
  const { answer, pin, premise, doubt } = standingOf(module, name, version);
  if (premise !== undefined) proof.countOn(premise);
  return proof.require(answer, {
    no: `${pin?.source ?? 'the project'} asks for ${name} ${pin?.text ?? `below ${version}`}, where ${because}`,
    unknown: ask(
      'version',
    )`Is ${`${name} ${version} or newer`} (${doubt === undefined ? '' : `${doubt}, and `}before that, ${because})?`,
  });
}

/** Whether a package is some version or newer; if so, the fix counts on what says it. Otherwise it needs a form that older ones take. */
export function countsOn(proof: Proof, module: PyModule, name: string, version: string): boolean {
  const { answer, premise } = standingOf(module, name, version);
  if (premise !== undefined) proof.countOn(premise);
  return answer === 'yes';
}

/** Asks that a variable serves this setting alone. */
export function onlyHere(module: PyModule, written: Written): Gate {
  return {
    answer: onlyUse(module, written),
    otherwise: ask(
      'own-variable',
    )`Does \`${shown(written.variable ?? written.node)}\` serve this setting alone?`,
  };
}

/** Asks that a setting reaches its call as it is written. */
export function requireArrival(proof: Proof, given: Given): Proof {
  return proof.require(arrives(given), {
    no: 'the dict is changed before it is spread into the call',
    unknown: ask(
      'own-dict',
    )`Is the dict with \`${given.entry.key?.text ?? shown(given.entry)}\` read and changed only here?`,
  });
}

/**
 * Asks that a trainer of transformers receives a setting: its dict is spread into the arguments, or they take the setting out of
 * it by its name. `these` names it in the condition.
 */
export function requireTrainer(proof: Proof, module: PyModule, given: Given, these: string): Proof {
  const { calls, homes } = given;
  const takers = argumentsTakers(module, given);
  const isReceived =
    calls.length > 0 ? argumentsCalls(module, given).length === calls.length : takers.length > 0;
  proof.require(
    isReceived ? 'yes' : 'unknown',
    ask(
      'trainer-receives',
    )`Does a trainer of transformers receive ${these}, which the project does not show?`,
  );
  for (const { call, read, unless } of calls.length > 0 ? [] : takers) {
    const home = homes.get(call) ?? module;
    const option = shadowingOption(home, read);
    const place = home === module ? 'the call' : placeOf(home, read);
    proof
      .forbid(
        option !== undefined,
        `${place} never takes it: \`${option?.flag}\` is ${option?.value.text} when nobody gives it`,
      )
      .require(
        unless === undefined || option !== undefined ? 'yes' : 'unknown',
        ask('taken-there')`Does ${place} take it, where \`${unless && shown(unless)}\` decides?`,
      );
  }
  return proof;
}

/**
 * Asks that a library's function is its own wherever the project runs: `lib.load = …` puts another one there. A question to
 * the whole project: it comes last, and not where the fix is unsafe without it.
 */
export function requireOriginal(
  proof: Proof,
  module: PyModule,
  ...paths: readonly (string | undefined)[]
): Proof {
  for (const path of paths) {
    const by = path === undefined || !proof.holds ? undefined : replacedInProject(module, path);
    if (by !== undefined)
      proof.require(
        'unknown',
        ask('replacement-alike')`Does what ${by} puts in the place of \`${path}\` take it alike?`,
      );
  }
  return proof;
}

/** Calls of calls are followed this far. */
const FOLLOWED = 3;

/** The same for the functions of the project that a part of the code runs, and that these run. */
export function requireOriginals(proof: Proof, module: PyModule, part: PyNode): Proof {
  const seen = new Set<PyNode>([part]);
  let parts: readonly Elsewhere[] = [{ module, node: part }];
  for (let depth = 0; depth < FOLLOWED && proof.holds; depth++) {
    const calls = parts
      .flatMap((each) => [...each.node.walk()].map((node) => ({ ...each, node })))
      .filter(({ node }) => node.type === 'call');
    parts = calls.flatMap((each) => {
      const callee = each.node.function;
      const found = callee && definitionRun(each.module, callee);
      if (callee === undefined || seen.has(found?.node ?? callee)) return [];
      seen.add(found?.node ?? callee);
      const name = found?.node.name?.text ?? ownMember(each.module, callee);
      const by = proof.holds ? replacementOf(module, { ...each, node: callee }, name) : undefined;
      if (by !== undefined) proof.require('unknown', onlyReadsGiven(by, name ?? callee.text));
      return found ?? [];
    });
  }
  const method = proof.holds ? methodReplaced(module) : undefined;
  if (method !== undefined) proof.require('unknown', onlyReadsGiven(method.by, method.path));
  return proof;
}

function onlyReadsGiven(by: string, name: string): Question {
  return ask(
    'replacement-alike',
  )`Does what ${by} puts in the place of \`${name}\` only read what it is given?`;
}

/** What puts something else in the place of what is called; `name`: of a function of the project. */
function replacementOf(
  home: PyModule,
  { module, node }: Elsewhere,
  name: string | undefined,
): string | undefined {
  const over = starredOver(module, node);
  if (over !== undefined || name !== undefined) return over ?? replacedByName(home, name ?? '');
  const path = qualifiedName(module, node);
  return path === undefined || row(path) === undefined ? undefined : replacedInProject(home, path);
}

/** `norm` of `force.Force.norm(x)`, of a class of another file. */
function ownMember(module: PyModule, callee: PyNode): string | undefined {
  const owner = callee.object && qualifiedName(module, callee.object);
  const found = owner === undefined ? undefined : definedElsewhere(module, owner);
  return found?.node.type === 'class_definition' ? callee.attribute?.text : undefined;
}

/** The `from x import *` below the import of a name, of a file that has another one of it. */
function starredOver(module: PyModule, callee: PyNode): string | undefined {
  const stars = starImports(module);
  const root = rootOf(callee);
  const name = stars.length === 0 ? '' : root.text;
  // By several files, it may come from one.
  const own = stars.length === 0 ? undefined : namedElsewhere(module, root)?.node;
  const bound = stars.length === 0 ? [] : module.scopeOf(module.root).bindings(name);
  const over = stars.find(({ from, statement }) => {
    if (!bound.some(({ start }) => start < statement.start)) return false;
    const other = definedElsewhere(module, within(from, name))?.node;
    return isRebound(module, name) || (other !== undefined && other !== own);
  });
  return over && `\`${shown(over.statement)}\``;
}

/** What raises an error is not cached; the app shows it, and goes on with nothing. */
const STREAMLIT_CACHE =
  /^streamlit\.(?:cache|cache_data|cache_resource|experimental_memo|experimental_singleton)$/;

/** A decorator that lets errors through. */
function isTransparent(module: PyModule, decorator: PyNode): boolean {
  const path = qualifiedName(
    module,
    decorator.type === 'call' ? (decorator.function ?? decorator) : decorator,
  );
  return (
    /^(?:staticmethod|classmethod|property)$/.test(decorator.text) ||
    /^(?:torch|functools|typing|hydra)\./.test(path ?? '') ||
    (path?.startsWith('click.') === true && !isAskedFor(module, 'CliRunner')) ||
    (STREAMLIT_CACHE.test(path ?? '') && !isAskedFor(module, 'AppTest'))
  );
}

/** Whether some other file of the project has a word. */
function isAskedFor(module: PyModule, word: string): boolean {
  return module.around.summaries({ word, beside: [] }, hasWord)?.length !== 0;
}

function hasWord(): true {
  return true;
}

/**
 * Asks that no other file of the project waits for an error that the change takes away: last, too. `errors`: what it is caught
 * by. `isSure`: it is raised whenever the code runs.
 */
export function requireUncaught(
  proof: Proof,
  module: PyModule,
  node: PyNode,
  errors: RegExp,
  isSure = false,
): Proof {
  const around = enclosingFunction(node);
  if (around === undefined || !proof.holds) return proof;
  const wrapper = decoratorsOf(around).find((each) => !isTransparent(module, each));
  if (wrapper !== undefined)
    return proof.require(
      'unknown',
      ask('error-unneeded')`Does \`${shown(wrapper)}\` work as well without the error of today?`,
    );
  const { handler, unread } = caughtElsewhere(module, around, errors, isSure);
  if (handler !== undefined) {
    const place = placeOf(handler.module, handler.node);
    return proof.require(
      'unknown',
      ask('error-unneeded')`Does ${place}, which catches the error of today, work as well without it?`,
    );
  }
  return unread === undefined
    ? proof
    : proof.require(
        'unknown',
        ask('error-unneeded')`Does ${unread} work as well without the error of today?`,
      );
}
