import { cpSync, lstatSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bytesOf } from '../bounded.js';
import { writeWhole } from './whole-file.js';

/** What every mirror has from its beginning. */
export const TEMPLATE = fileURLToPath(new URL('./mirror-template', import.meta.url));
const ATTRIBUTES = join('info', 'attributes');
/** More than git writes there itself. */
const LONGEST_CONFIG = 64 * 1024;
/** Files of a git folder that send git elsewhere, or name programs. Mirrors have none of them. */
const UNWANTED = [
  ...['commondir', 'gitdir', 'config.worktree', 'hooks', join('info', 'grafts'), join('refs', 'replace')],
  ...[join('objects', 'info', 'alternates'), join('objects', 'info', 'http-alternates')],
];

/** All that is kept of a config file: what git found out about the disk and the remote. */
interface Facts {
  /** Settings of `core` that are true or false. */
  readonly disk: readonly (readonly [name: string, value: string])[];
  readonly isPartial: boolean;
  readonly isSha256: boolean;
}

/**
 * Makes the settings of a git folder those that memfix writes. Code of a repository that ran on this machine may have been
 * at them; git would follow them with the user's credentials.
 */
export function resetSettings(folder: string, url: string): void {
  const config = join(folder, 'config');
  ensure(config, configFrom(factsIn(smallText(config)), { url }));
  ensure(join(folder, ATTRIBUTES), attributes());
  for (const name of UNWANTED) rmSync(join(folder, name), { recursive: true, force: true });
}

/**
 * A git folder of its own in a work tree, for code that is not ours: with the commit, the index and the branches of
 * another, whose objects it reads. Nothing that is written there reaches the other one, and it knows no remote.
 */
export function lendGitFolder(from: string, tree: string, commit: string): void {
  const own = join(tree, '.git');
  rmSync(own, { recursive: true, force: true });
  for (const name of ['index', 'shallow', 'packed-refs', 'refs']) {
    const source = join(from, name);
    const isThere = lstatSync(source, { throwIfNoEntry: false }) !== undefined;
    if (isThere) cpSync(source, join(own, name), { recursive: true });
  }
  const facts = factsIn(smallText(join(from, 'config')));
  ensure(join(own, 'HEAD'), `${commit}\n`);
  ensure(join(own, 'config'), configFrom({ ...facts, isPartial: false }, {}));
  ensure(join(own, ATTRIBUTES), attributes());
  ensure(join(own, 'objects', 'info', 'alternates'), `${join(from, 'objects')}\n`);
}

function factsIn(text: string): Facts {
  const disk = text.matchAll(/^[\t ]*(filemode|ignorecase|symlinks|precomposeunicode) = (true|false)$/gm);
  return {
    disk: [...new Map([...disk].map(([, name = '', value = '']) => [name, value]))],
    isPartial: /^[\t ]*promisor = true$/m.test(text),
    isSha256: /^[\t ]*objectformat = sha256$/im.test(text),
  };
}

function configFrom({ disk, isPartial, isSha256 }: Facts, { url }: { readonly url?: string }): string {
  const remote = [
    '[remote "origin"]',
    `\turl = "${url?.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`,
    '\tfetch = +refs/heads/*:refs/remotes/origin/*',
    ...(isPartial ? ['\tpromisor = true', '\tpartialclonefilter = blob:none'] : []),
  ];
  return [
    '[core]',
    `\trepositoryformatversion = ${isPartial || isSha256 ? 1 : 0}`,
    ...disk.map(([name, value]) => `\t${name} = ${value}`),
    '\tbare = false',
    ...(isSha256 ? ['[extensions]', '\tobjectformat = sha256'] : []),
    ...(url === undefined ? [] : remote),
    '',
  ].join('\n');
}

let knownAttributes: string | undefined;

function attributes(): string {
  knownAttributes ??= bytesOf(join(TEMPLATE, ATTRIBUTES)).toString('utf8');
  return knownAttributes;
}

/** A file with this text, and no link or folder in its place. At no moment is it missing. */
function ensure(file: string, text: string): void {
  if (smallText(file) === text) return;
  const folder = dirname(file);
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) rmSync(folder);
  if (lstatSync(file, { throwIfNoEntry: false })?.isDirectory() === true) rmSync(file, { recursive: true });
  writeWhole(file, text, 'later');
}

/** Of a plain file; nothing of anything else. */
function smallText(file: string): string {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.size <= LONGEST_CONFIG
    ? bytesOf(file, LONGEST_CONFIG).toString('utf8')
    : '';
}
