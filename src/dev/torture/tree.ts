import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { transforms } from '../../../transforms/index.js';
import type { FixtureCase } from '../../testing/fixtures.js';
import { casesOf } from '../fixtures.js';
import { type Ended, memfix } from './program.js';
import type { Random } from './random.js';

/** The bytes of a project's files, by path. */
export type Files = ReadonlyMap<string, Buffer>;

export const APPLY = ['apply', '--unsafe-fixes', '--allow-no-vcs'] as const;

/** A project with something to fix in each file, and what an undisturbed `apply` makes of it. */
export interface Sample {
  readonly folder: string;
  readonly before: Files;
  readonly after: Files;
  /** How long that took. */
  readonly milliseconds: number;
}

let fixable: readonly FixtureCase[] | undefined;

/** What a plain `apply --unsafe-fixes` changes: no option, no pinned version and no other file is needed for it. */
function fixableAlone(): readonly FixtureCase[] {
  const ids = transforms.filter(({ meta }) => meta.group === 'default').map(({ meta }) => meta.id);
  return ids
    .flatMap(casesOf)
    .filter(
      ({ kind, folder, project }) =>
        kind === 'fix' && project.size === 0 && !existsSync(join(folder, 'options.json')),
    );
}

/** Made of fixtures that are fixed by themselves. */
export async function sampleIn(folder: string, count: number, random: Random): Promise<Sample> {
  fixable ??= fixableAlone();
  const before = new Map<string, Buffer>();
  for (let number = 0; number < count; number++) {
    const fixture = random.pick(fixable);
    if (fixture === undefined) break;
    const place = random.oneOf('', 'training', join('training', 'deep'), 'scripts');
    before.set(join(place, `case_${number}.py`), fixture.input);
  }
  const [original, changed] = [join(folder, 'original'), join(folder, 'changed')];
  write(original, before);
  write(changed, before);
  const run = await memfix({ cwd: changed, state: join(folder, 'first-state') }, ...APPLY, '.');
  const after = filesIn(changed, before);
  if (sameFiles(before, after)) throw new Error(`apply changed nothing in the sample: ${run.stderr}`);
  return { folder: original, before, after, milliseconds: run.milliseconds };
}

export function write(folder: string, files: Files): void {
  for (const [path, bytes] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
}

export function copyOf({ folder }: Sample, to: string): string {
  cpSync(folder, to, { recursive: true });
  return to;
}

export function filesIn(folder: string, named: Files): Files {
  return new Map([...named.keys()].map((path) => [path, readFileSync(join(folder, path))]));
}

export function sameFiles(some: Files, others: Files): boolean {
  return [...some].every(([path, bytes]) => others.get(path)?.equals(bytes) === true);
}

/** Files that are neither entirely old nor entirely new. */
export function tornFiles(folder: string, { before, after }: Sample): readonly string[] {
  return [...filesIn(folder, before)]
    .filter(([path, bytes]) => !before.get(path)?.equals(bytes) && !after.get(path)?.equals(bytes))
    .map(([path]) => path);
}

/** Files in the project that were not there before. */
export function strayFiles(folder: string, { before }: Sample): readonly string[] {
  return everyFile(folder).filter((path) => !before.has(path));
}

/** Everything below a folder that is no folder, by its path from there. */
export function everyFile(folder: string): readonly string[] {
  const found: string[] = [];
  const look = (at: string): void => {
    for (const name of readdirSync(at)) {
      const path = join(at, name);
      if (lstatSync(path).isDirectory()) look(path);
      else found.push(relative(folder, path));
    }
  };
  look(folder);
  return found.sort();
}

export function lastWords({ stderr, stdout, status, signal }: Ended): string {
  return `[${signal ?? status}] ${`${stdout}\n${stderr}`.trim().slice(-400)}`;
}
