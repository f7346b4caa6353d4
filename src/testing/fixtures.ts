import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { dirname } from 'node:path/posix';
import type { ProjectDoor } from '../engine/door.js';
import type { Finding } from '../engine/outcome.js';
import { fileImported, fileNamed } from '../semantic/module-paths.js';
import { aboutWhat } from '../semantic/question.js';
import { type Pin, Versions } from '../semantic/versions.js';
import { wholeWord } from '../text/words.js';
import type { Numerics, Options, Safety } from '../toolkit/contract.js';
import { bytesOf } from '../workspace/bounded.js';
import { readRequirements } from '../workspace/dependency-files.js';

/** One finding as `findings.json` records it. `id` only where several transforms meet. */
export type Recorded =
  | { readonly line: number; readonly id?: string; readonly refusal: string }
  | {
      readonly line: number;
      readonly id?: string;
      readonly safety: Safety;
      readonly numerics: Numerics;
      readonly message: string;
      /** `kind(subject): text` of what keeps it from being safer; left out where nothing does. */
      readonly questions?: readonly string[];
      /** What to do, where there is no diff. */
      readonly advice?: string;
    };

export type CaseKind = 'fix' | 'keep' | 'report';

export interface FixtureCase {
  readonly name: string;
  readonly kind: CaseKind;
  readonly folder: string;
  readonly input: Buffer;
  /** Undefined until a contributor has recorded it. */
  readonly output: Buffer | undefined;
  readonly recorded: readonly Recorded[] | undefined;
  /** From `options.json`, for the shapes that only an option brings. */
  readonly options: Options;
  /** From the key `versions` there, e.g. `{ "versions": { "transformers": ">=4.46" } }`. */
  readonly versions: Versions;
  /** From the key `transforms` there: what runs in a case where several meet, if not what is on by default. */
  readonly transforms: readonly string[] | undefined;
  /** Other files of the project, from the folder `project/`: path to text, as seen from `input.py`. */
  readonly project: ReadonlyMap<string, string>;
  /** Those of them that the fix changes too, from `project-output/`. */
  readonly projectOutput: ReadonlyMap<string, string>;
}

/** The cases of a transform, which are the folders in one. */
export function casesIn(at: string): readonly FixtureCase[] {
  if (!existsSync(at)) return [];
  return readdirSync(at, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => readCase(entry.name, join(at, entry.name)))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function readCase(name: string, folder: string): FixtureCase {
  const kind = /^(fix|keep|report)-/.exec(name)?.[1];
  if (kind === undefined) throw new Error(`${folder}: a case is named fix-…, keep-… or report-…`);
  const findings = read(join(folder, 'findings.json'));
  const options = read(join(folder, 'options.json'));
  return {
    name,
    kind: kind as CaseKind,
    folder,
    input: bytesOf(join(folder, 'input.py')),
    output: read(join(folder, 'output.py')),
    recorded: findings === undefined ? undefined : JSON.parse(findings.toString('utf8')),
    ...settingsIn(options),
    project: projectIn(join(folder, 'project')),
    projectOutput: projectIn(join(folder, 'project-output')),
  };
}

function settingsIn(json: Buffer | undefined): Pick<FixtureCase, 'options' | 'versions' | 'transforms'> {
  const {
    versions = {},
    transforms,
    ...options
  } = json === undefined ? {} : JSON.parse(json.toString('utf8'));
  const pins = Object.entries<string>(versions).map(([name, text]): [string, Pin[]] => {
    const { statements } = readRequirements(`${name}${text}`, 'requirements.txt');
    return [name, statements.map(([, pin]) => pin)];
  });
  return { options, versions: new Versions(new Map(pins)), transforms };
}

function projectIn(folder: string): ReadonlyMap<string, string> {
  if (!existsSync(folder)) return new Map();
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [relative(folder, path).split(sep).join('/'), bytesOf(path).toString('utf8')];
    }),
  );
}

/** The project of a case as the engine asks for it: its files, and `input.py` as they see it. */
export function doorOf({ versions, project }: Pick<FixtureCase, 'versions' | 'project'>): ProjectDoor {
  const isThere = (path: string) =>
    path === 'input.py' ||
    project.has(path) ||
    [...project.keys()].some((each) => each.startsWith(`${path}/`));
  const found = (path: string | undefined) => {
    const text = path === 'input.py' ? '' : path && project.get(path);
    return path === undefined || text === undefined ? undefined : { path, text, key: text };
  };
  return {
    nameOf: (path) => path,
    filesWith: (path, { word, beside }) => {
      const has = (text: string) =>
        wholeWord(word).test(text) &&
        (beside.length === 0 || beside.some((other) => wholeWord(other).test(text)));
      const others = [...project].filter(([name]) => name !== path && name.endsWith('.py'));
      const files = others.flatMap(([name, text]) =>
        has(text) ? { path: name, key: text, length: text.length, read: () => found(name) } : [],
      );
      return { files, key: files.map(({ key }) => key).join() };
    },
    versionsFor: () => ({ versions, key: '' }),
    moduleFor: (path, dotted) => found(fileImported(path, dotted, foldersAbove(path), isThere)),
    fileNamed: (path, name) => found(fileNamed(name, foldersAbove(path), isThere)),
  };
}

function foldersAbove(path: string): readonly string[] {
  const folders = [dirname(path)];
  for (let at = dirname(path); at !== '.'; folders.push(at)) at = dirname(at);
  return folders;
}

function read(path: string): Buffer | undefined {
  return existsSync(path) ? bytesOf(path) : undefined;
}

/** A case may allow unsafe fixes only by recording an unsafe finding that is fixed. */
export function allowsUnsafe(kind: CaseKind, recorded: readonly Recorded[] | undefined): boolean {
  return kind === 'fix' && (recorded ?? []).some((each) => 'safety' in each && each.safety === 'unsafe');
}

export function record(finding: Finding, withId: boolean): Recorded {
  const place = { line: finding.at.line, ...(withId ? { id: finding.transform } : {}) };
  if (finding.refusal !== undefined) return { ...place, refusal: finding.refusal };
  const { safety, numerics, message, questions, advice } = finding;
  return {
    ...place,
    safety,
    numerics,
    message,
    ...(questions.length === 0
      ? {}
      : { questions: questions.map((each) => `${aboutWhat(each)}: ${each.text}`) }),
    ...(advice === undefined ? {} : { advice }),
  };
}

export function writeRecord(folder: string, recorded: readonly Recorded[]): void {
  const rows = recorded.map((each) => `  ${JSON.stringify(each)}`).join(',\n');
  writeFileSync(join(folder, 'findings.json'), recorded.length === 0 ? '[]\n' : `[\n${rows}\n]\n`);
}

export function writeProjectOutput(folder: string, path: string, text: string): void {
  const place = join(folder, 'project-output', path);
  mkdirSync(join(place, '..'), { recursive: true });
  if (!existsSync(place)) writeFileSync(place, text);
}

export function writeOutput(folder: string, output: Buffer): void {
  const path = join(folder, 'output.py');
  if (!existsSync(path)) writeFileSync(path, output);
}
