import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { State } from '../../src/workspace/state.js';
import { commit, folderWith, git, put, repositoryWith } from './folders.js';

/** A project, and a place for what memfix keeps about it. */
function projectIn(home = folderWith()) {
  const root = folderWith();
  return { root, home, state: State.of(root, { MEMFIX_STATE_DIR: home }) };
}

describe('the folder of a project', () => {
  test('has a name that can be read, says what it is about, and is for its user alone', () => {
    const home = join(folderWith(), 'not/there/yet');
    const root = folderWith({ 'my project!/a.py': '' });
    const state = State.of(join(root, 'my project!'), { MEMFIX_STATE_DIR: home });
    expect(existsSync(home)).toBe(false);
    state.open();
    expect(state.folder).toMatch(/\/not\/there\/yet\/projects\/my_project_-[0-9a-f]{16}$/);
    expect(readFileSync(join(state.folder, 'root'), 'utf8')).toBe(join(root, 'my project!'));
    expect([home, state.folder].map((folder) => statSync(folder).mode & 0o777)).toEqual([0o700, 0o700]);
  });

  test('is the same through a link, and another one for another project', () => {
    const { root, home, state } = projectIn();
    const link = join(folderWith(), 'link');
    symlinkSync(root, link);
    expect(State.of(link, { MEMFIX_STATE_DIR: home }).folder).toBe(state.folder);
    expect(projectIn(home).state.folder).not.toBe(state.folder);
  });

  test.each([
    [{ MEMFIX_STATE_DIR: '/x' }, '/x/'],
    [{ MEMFIX_STATE_DIR: '', XDG_STATE_HOME: '/state', HOME: '/me' }, '/state/memfix/'],
    [{ XDG_STATE_HOME: 'relative', HOME: '/me' }, '/me/.local/state/memfix/'],
    [{ HOME: '/me' }, '/me/.local/state/memfix/'],
  ])('lies where %j says', (env, start) => {
    expect(State.of('/', env).folder).toMatch(new RegExp(`^${start}projects/-[0-9a-f]{16}$`));
  });

  test('never lies where the working folder decides it', () => {
    expect(() => State.of('/', { MEMFIX_STATE_DIR: 'state' })).toThrow('MEMFIX_STATE_DIR is `state`');
  });

  test('is signed again where a full disk left the signature empty', () => {
    const { root, state } = projectIn();
    state.open();
    writeFileSync(join(state.folder, 'root'), '');
    state.open();
    expect(readFileSync(join(state.folder, 'root'), 'utf8')).toBe(root);
    expect(readdirSync(state.folder)).toEqual(['root']);
  });
});

describe('state that is not ours is refused, and said', () => {
  const REFUSED = (reason: string) => new RegExp(`The state folder of memfix cannot be used: .+: ${reason}`);

  test('a link in place of the folder', () => {
    const { state, home } = projectIn();
    mkdirSync(join(home, 'projects'));
    const trap = folderWith();
    symlinkSync(trap, state.folder);
    expect(() => state.open()).toThrow(REFUSED('it is a link'));
    expect(() => state.check()).toThrow(REFUSED('it is a link'));
    expect(readdirSync(trap)).toEqual([]);
  });

  test.runIf(process.getuid?.() === 0)('a folder of another user', () => {
    const { state } = projectIn();
    state.open();
    chownSync(state.folder, 12345, 12345);
    expect(() => state.check()).toThrow(REFUSED('it belongs to another user'));
  });

  test('a folder that others may write to', () => {
    const { state } = projectIn();
    state.open();
    chmodSync(state.folder, 0o770);
    expect(() => state.check()).toThrow(REFUSED('other users may write to it'));
  });

  test('a folder about another project', () => {
    const { state } = projectIn();
    state.open();
    writeFileSync(join(state.folder, 'root'), '/elsewhere');
    expect(() => state.open()).toThrow(REFUSED('it is about /elsewhere'));
  });

  test('a folder that a repository brings with it', () => {
    const root = repositoryWith({ 'a.py': '' });
    const state = State.of(root, { MEMFIX_STATE_DIR: join(root, 'kept') });
    state.open();
    expect(state.objection).toBeUndefined();
    commit(root);
    expect(() => state.check()).toThrow(REFUSED(`the repository ${root} tracks files in it`));
    git(root, 'rm', '--quiet', '--cached', '-r', 'kept');
    expect(state.objection).toBeUndefined();
  });

  test.runIf(process.getuid?.() !== 0)('a place that cannot be written', () => {
    const home = folderWith();
    chmodSync(home, 0o500);
    const { state } = projectIn(home);
    expect(() => state.open()).toThrow(REFUSED('permission denied'));
    chmodSync(home, 0o700);
  });
});

describe('projects that are gone', () => {
  const DAY = 24 * 60 * 60 * 1000;

  test('are forgotten after a month, when a new one comes', () => {
    const home = folderWith();
    const [kept, recent, old] = [projectIn(home), projectIn(home), projectIn(home)];
    for (const { state } of [kept, recent, old]) state.open();
    for (const { root } of [recent, old]) rmSync(root, { recursive: true });
    const long = new Date(Date.now() - 31 * DAY);
    for (const { state } of [kept, old]) utimesSync(state.folder, long, long);
    kept.state.open();
    expect(existsSync(old.state.folder)).toBe(true);
    projectIn(home).state.open();
    expect([kept, recent, old].map(({ state }) => existsSync(state.folder))).toEqual([true, true, false]);
  });

  test('are forgotten sooner where there are very many', () => {
    const home = folderWith();
    for (let number = 0; number < 250; number++) {
      const folder = join(home, 'projects', `gone-${number}`);
      put(folder, { root: `/gone/${number}` });
      const time = new Date(Date.now() - number * 60_000);
      utimesSync(folder, time, time);
    }
    projectIn(home).state.open();
    const left = readdirSync(join(home, 'projects'));
    expect(left).toHaveLength(201);
    expect(left).toContain('gone-199');
    expect(left).not.toContain('gone-200');
  });
});
