import { join } from 'node:path';
import { expect } from 'vitest';
import { folderWith, git } from '../folders.js';
import { BRANCH, branchesOf, commitsOn, countPushes, remotesWith } from './remotes.js';

/** Others get what a worker had when it has been silent for so long. */
export const LEASE = ['--lease', '2s'];

/** Bare repositories with something to fix, and a campaign over them. */
export function campaignOver(files: Readonly<Record<string, string>>, more = '') {
  const names = Object.keys(files);
  const remotes = remotesWith(Object.fromEntries(names.map((name) => [name, { 'a.py': files[name] ?? '' }])));
  const counts = new Map(names.map((name) => [name, countPushes(join(remotes, `${name}.git`))]));
  const pushes = () => Object.fromEntries([...counts].map(([name, count]) => [name, count()]));
  return {
    camp: folderWith({ 'campaign.toml': `repositories = ['${remotes}']\n${more}` }),
    pushes,
    /** That each was pushed once, with one commit on one branch. */
    check() {
      expect(pushes()).toEqual(Object.fromEntries(names.map((name) => [name, 1])));
      for (const bare of names.map((name) => join(remotes, `${name}.git`))) {
        expect(branchesOf(bare)).toEqual(['main', BRANCH]);
        expect(commitsOn(bare)).toEqual(['Fix GPU memory waste']);
        expect(git(bare, 'show', `${BRANCH}:a.py`)).toMatch(/^release\(/);
      }
    },
  };
}
