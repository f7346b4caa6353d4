import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderWith, git } from '../workspace/folders.js';
import { BRANCH, remotesWith, WORLD } from '../workspace/migrate/remotes.js';
import { memfix } from './command-line.js';

const BOOK = `{
 "cells": [
  {
   "cell_type": "code",
   "source": [
    "%time\\n",
    "hold(\\"\\u00e9\\")"
   ]
  },
  {"cell_type": "code", "source": "!ls\\nrisk()"}
 ],
 "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 4
}`;

test.each(['shallow', 'partial'])(
  'a campaign fixes notebooks, and tells their places by cell: %s clones',
  async (clone) => {
    const bare = join(remotesWith({ one: { 'a.ipynb': BOOK } }), 'one.git');
    const remote = JSON.stringify([`file://${bare}`]);
    git(bare, 'config', 'uploadpack.allowFilter', 'true');
    git(bare, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
    const cwd = folderWith({ 'campaign.toml': `repositories = ${remote}\nclone = "${clone}"\n` });
    const migrate = (...words: readonly string[]) => memfix({ cwd, env: WORLD }, 'migrate', ...words);
    const ran = await migrate('run', '--push');
    expect(ran.stderr).toContain('1 repository: 1 pushed.');
    expect(git(bare, 'show', `${BRANCH}:a.ipynb`)).toBe(BOOK.replace('hold(', 'release('));
    const [record] = JSON.parse((await migrate('report')).stdout).repositories;
    expect(record.planned.left).toMatchObject([
      { path: 'a.ipynb', cell: 2, line: 2, transform: 'calm-risk' },
    ]);
    const page = readFileSync(join(cwd, 'report.html'), 'utf8');
    // The change as the reader of the cell knows it: no mark of ours, and the magic as it is.
    expect(page).toContain('[" %time","-hold(\\"é\\")","+release(\\"é\\")"]');
  },
);
