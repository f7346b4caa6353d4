import { summariesTogether } from '../../semantic/companions.js';
import type { PyModule } from '../../semantic/module.js';
import { isMethodOfProject } from '../../semantic/project-names.js';
import { methodsByName } from '../../semantic/reach.js';
import { remembered } from '../../semantic/remembered.js';
import type { PyNode } from '../../syntax/node.js';
import { keepsOwn } from '../uses/escapes.js';
import { computes, mayRunOthers } from './lazy-code.js';

/**
 * Where the project has a method of this name that computes something with a network or with parameters of its own object,
 * and keeps it: in brackets, unless in this file.
 */
export const ownKeeper = remembered((module: PyModule, name: string): string | undefined => {
  if (!isMethodOfProject(module, name)) return undefined;
  if (methodsByName(module, name).some((method) => keepsComputed(module, method))) return '';
  const files = summariesTogether(module, { word: name, beside: ['class'] }, mayKeepOwn);
  if (files === undefined) return ` (${module.around.unread ?? `one of many files that name \`${name}\``})`;
  const places = new Set(files.filter((place) => place !== undefined));
  if (places.size === 0) return undefined;
  const { modules, unread } = module.around.naming({ word: name, beside: ['class'] }, (_text, path) =>
    places.has(path),
  );
  const home = modules.find((there) => methodsByName(there, name).some((each) => keepsComputed(there, each)));
  return home === undefined ? unread && ` (${unread})` : ` (\`${home.path}\`)`;
});

function keepsComputed(module: PyModule, method: PyNode): boolean {
  return keepsOwn(module, method) && computes(module, method);
}

/** The file itself, where it has a method that may: of what it runs, it knows only what it makes. */
function mayKeepOwn(alone: PyModule, name: string): string | undefined {
  const isOne = methodsByName(alone, name).some(
    (method) => keepsOwn(alone, method) && (mayRunOthers(alone, method) || computes(alone, method)),
  );
  return isOne ? alone.path : undefined;
}
