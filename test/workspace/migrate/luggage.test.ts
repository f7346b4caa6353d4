import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isSame, pack, unpack } from '../../../src/workspace/migrate/queue/luggage.js';
import { folderWith, listing, put } from '../folders.js';

const ID = 'acme-one-0123456789';

describe('the files of a repository', () => {
  test('travel to a worker and back; what people decide is not among them', () => {
    const home = folderWith({
      [`decisions/${ID}.jsonl`]: 'first\n',
      [`patches/${ID}.patch`]: 'old',
      [`patches/${ID}/01-no-grad.patch`]: 'old',
      'patches/acme-one-0123456789-fork-9876543210.patch': 'another',
      [`state/${ID}.json`]: '{}',
    });
    const there = folderWith();
    unpack(there, ID, pack(home, ID));
    expect(listing(there)).toEqual([`patches/${ID}.patch`, `patches/${ID}/01-no-grad.patch`]);
    unpack(there, ID, new Map([...pack(there, ID)].filter(([path]) => !path.includes('no-grad'))));
    put(there, { [`patches/${ID}.patch`]: 'new', [`fixes/${ID}.json`]: '[]', [`logs/${ID}.log`]: 'said' });
    unpack(home, ID, pack(there, ID));
    expect(listing(home)).toEqual([
      `decisions/${ID}.jsonl`,
      `fixes/${ID}.json`,
      `logs/${ID}.log`,
      'patches/acme-one-0123456789-fork-9876543210.patch',
      `patches/${ID}.patch`,
      `state/${ID}.json`,
    ]);
    expect(readFileSync(join(home, 'patches', `${ID}.patch`), 'utf8')).toBe('new');
  });

  test.each([
    '../x.patch',
    `patches/../${ID}.patch`,
    `patches/${ID}/../../x`,
    `state/${ID}.json`,
    'patches/other.patch',
  ])('lead nowhere else: %s', (path) => {
    const folder = folderWith();
    expect(() => unpack(folder, ID, new Map([[path, Buffer.from('x')]]))).toThrow('no file of');
    expect(listing(folder)).toEqual([]);
  });

  test('are the same by their bytes; the log of the base is among them', () => {
    const folder = folderWith({ [`logs/${ID}.log`]: 'some', [`logs/${ID}.base.log`]: 'other' });
    const packed = pack(folder, ID);
    expect([...packed.keys()]).toEqual([`logs/${ID}.log`, `logs/${ID}.base.log`]);
    expect(isSame(packed, pack(folder, ID))).toBe(true);
    put(folder, { [`logs/${ID}.log`]: 'other' });
    expect(isSame(packed, pack(folder, ID))).toBe(false);
  });
});
