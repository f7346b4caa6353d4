import { join } from 'node:path';
import { pinOf } from '../semantic/versions.js';
import { packageOf, type Statement } from './dependency-files.js';
import type { Folders } from './folders.js';
import { isInside, realPath } from './places.js';

/** The folders of a project in which its own environment is, by custom. */
export const ENVIRONMENTS: readonly string[] = ['.venv', 'venv', 'env'];

/**
 * The packages of a virtual environment or a conda environment, by the names of the folders and files that installers leave:
 * `site-packages/torch-2.6.0.dist-info`, `conda-meta/pytorch-2.1.0-py3.10_0.json`. Nothing in it is opened or run, and no link out of it is followed.
 */
export function installedIn(environment: string, shown: string, folders: Folders): readonly Statement[] {
  const names = folders.names(environment);
  const home = realPath(environment);
  const listed = (place: string) => (isInside(realPath(place), home) ? [...folders.names(place)] : []);
  const libraries = ['lib', 'Lib'].filter((name) => names.has(name)).map((name) => join(environment, name));
  const places = libraries.flatMap((library) => [
    join(library, SITE),
    ...listed(library)
      .filter((name) => /^python\d[\d.]*$/.test(name))
      .map((name) => join(library, name, SITE)),
  ]);
  const conda = names.has(CONDA) ? listed(join(environment, CONDA)) : [];
  return [
    ...places.flatMap((place) => listed(place).flatMap((name) => stated(name, DIST_INFO, shown))),
    ...conda.flatMap((name) => stated(name, CONDA_RECORD, shown)),
  ];
}

const SITE = 'site-packages';
const CONDA = 'conda-meta';
const DIST_INFO = /^([\w.]{1,100})-(\d[\w.+!]{0,100})\.dist-info$/;
const CONDA_RECORD = /^([\w.-]{1,100})-(\d[\w.+!]{0,100})-[^-]+\.json$/;

function stated(entry: string, pattern: RegExp, source: string): readonly Statement[] {
  const [, written = '', version = ''] = pattern.exec(entry) ?? [];
  const name = packageOf(written);
  if (name === undefined) return [];
  return [[name, { ...pinOf(`==${version}`, source), text: version, authority: 'environment' }]];
}
