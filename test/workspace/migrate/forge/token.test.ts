import { chmodSync } from 'node:fs';
import { expect, test } from 'vitest';
import { hostFrom, PUBLIC_HOSTS, projectAt } from '../../../../src/workspace/migrate/forge/host.js';
import { tokenFor, tokenVariables, withoutTokens } from '../../../../src/workspace/migrate/forge/token.js';
import { folderWith, git, repositoryWith } from '../../folders.js';
import { WORLD } from '../remotes.js';

const host = (text: string) => {
  const found = hostFrom(text, 'none.example');
  if (found === undefined) throw new Error(text);
  return found;
};
const GITHUB = host('github+https://github.com');
const OWN_GITHUB = host('github+https://ghe.example.org');
const OWN_GITLAB = host('gitlab+https://git.example.org/lab/');
const never = new AbortController().signal;

test('a token goes to the host that it is meant for, and to no other', () => {
  expect(tokenVariables(GITHUB, {})).toEqual(['MEMFIX_TOKEN_GITHUB_COM', 'GH_TOKEN', 'GITHUB_TOKEN']);
  expect(tokenVariables(OWN_GITHUB, {})).not.toContain('GITHUB_TOKEN');
  expect(tokenVariables(OWN_GITHUB, { GITHUB_SERVER_URL: 'https://ghe.example.org' })).toContain(
    'GITHUB_TOKEN',
  );
  expect(tokenVariables(OWN_GITLAB, {})).toEqual(['MEMFIX_TOKEN_GIT_EXAMPLE_ORG']);
  expect(tokenVariables(OWN_GITLAB, { GITLAB_HOST: 'git.example.org' })).toContain('GITLAB_TOKEN');
});

test('the environment comes first, then gh, then the helpers of git', async () => {
  const bin = folderWith({
    gh: '#!/bin/sh\n[ "$*" = "auth token --hostname github.com" ] && echo from-gh\n',
    helper: '#!/bin/sh\ngrep -qx host=git.example.org && echo username=ada && echo password=from-git\n',
  });
  chmodSync(`${bin}/gh`, 0o755);
  chmodSync(`${bin}/helper`, 0o755);
  const env = {
    ...{ ...WORLD, PATH: `${bin}:${WORLD['PATH']}` },
    ...{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'credential.helper', GIT_CONFIG_VALUE_0: `${bin}/helper` },
  };
  expect(await tokenFor(GITHUB, { ...env, GITHUB_TOKEN: ' here\n' }, never)).toBe('here');
  expect(await tokenFor(GITHUB, { ...env, GITHUB_TOKEN: '' }, never)).toBe('from-gh');
  expect(await tokenFor(OWN_GITLAB, env, never)).toBe('from-git');
  expect(await tokenFor(OWN_GITHUB, env, never)).toBeUndefined();
});

test('no helper of a repository around is asked', async () => {
  const bin = folderWith({ helper: '#!/bin/sh\necho username=eve\necho password=theirs\n' });
  chmodSync(`${bin}/helper`, 0o755);
  const repository = repositoryWith();
  git(repository, 'config', 'credential.helper', `${bin}/helper`);
  const before = process.cwd();
  process.chdir(repository);
  try {
    expect(await tokenFor(OWN_GITLAB, WORLD, never)).toBeUndefined();
  } finally {
    process.chdir(before);
  }
});

test('the code of repositories sees no tokens', () => {
  const env = { GH_TOKEN: 'a', GITLAB_TOKEN: 'b', MEMFIX_TOKEN_GIT_EXAMPLE_ORG: 'c', GH_PAGER: 'cat' };
  expect(withoutTokens(env)).toEqual({ GH_PAGER: 'cat' });
});

test.each([
  ['https://github.com/acme/one.git', 'github', 'acme/one'],
  ['git@github.com:acme/one.git', 'github', 'acme/one'],
  ['ssh://git@ssh.github.com:443/acme/one', 'github', 'acme/one'],
  ['https://gitlab.com/a/b/c/', 'gitlab', 'a/b/c'],
  ['git@git.example.org:a/b/c.git', 'gitlab', 'a/b/c'],
  ['https://git.example.org/lab/a/b.git', 'gitlab', 'a/b'],
])('%s is on %s', (url, kind, path) => {
  const hosts = new Map([...PUBLIC_HOSTS, ['git.example.org', OWN_GITLAB]]);
  expect(projectAt(url, hosts)).toMatchObject({ host: { kind }, path });
});

test.each(['/srv/one', 'file:///srv/one', 'https://elsewhere.example/a/b'])('%s is on no forge', (url) => {
  expect(projectAt(url, PUBLIC_HOSTS)).toBeUndefined();
});
