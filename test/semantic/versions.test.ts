import { describe, expect, test } from 'vitest';
import { compareVersions, type Pin, pinOf, Versions } from '../../src/semantic/versions.js';

function asked(...specifiers: readonly string[]): Versions {
  const pins = specifiers.map((text) => pinOf(text, 'requirements.txt:1'));
  return new Versions(new Map([['transformers', pins]]));
}

describe('what a specifier says about 4.46', () => {
  test.each([
    ['>=4.46', 'yes'],
    ['>=4.46.0', 'yes'],
    ['>4.46', 'yes'],
    ['>=4.45.9', 'unknown'],
    ['>=4.40,<5', 'unknown'],
    ['>=4.40, <4.46', 'no'],
    ['<4.46', 'no'],
    ['<4.46.1', 'unknown'],
    ['<=4.46', 'unknown'],
    ['<=4.45.2', 'no'],
    ['==4.46.3', 'yes'],
    ['==4.45.3', 'no'],
    ['===4.46.0', 'yes'],
    ['==v4.46', 'yes'],
    ['==4.*', 'unknown'],
    ['==4.45.*', 'no'],
    ['==4.46.*', 'yes'],
    ['~=4.40', 'unknown'],
    ['~=4.40.1', 'no'],
    ['~=4.46', 'yes'],
    ['~=3.0', 'no'],
    ['!=4.45,>=4.46', 'yes'],
    ['==4.46.0+cu118', 'yes'],
    ['(>=4.46)', 'yes'],
    ['>=4.46,', 'yes'],
    // Not yet that version, though some of it may be in.
    ['>=4.46.0.dev0', 'unknown'],
    ['==4.46rc1', 'unknown'],
    ['<4.46.0.dev0', 'no'],
    ['==4.46.1.post1', 'yes'],
    ['1!4.46', 'unknown'],
    ['@ git+https://example.org/transformers', 'unknown'],
    ['latest', 'unknown'],
    ['>=4.46 || <3', 'unknown'],
  ])('%s: %s', (specifier, answer) => {
    expect(asked(specifier).isAtLeast('transformers', '4.46')).toBe(answer);
  });

  test.each(['', '*', '  ', '!=4.45', '!=4.45.*, !=5.1.0'])(
    '%j allows any version and says nothing',
    (specifier) => {
      expect(pinOf(specifier, 'a')).toMatchObject({ isAny: true });
      expect(asked(specifier, '>=4.46').isAtLeast('transformers', '4.46')).toBe('yes');
      expect(asked(specifier).isAtLeast('transformers', '4.46')).toBe('unknown');
    },
  );
});

describe('several lines', () => {
  test('all of them must allow it, and one that does not is enough', () => {
    expect(asked('>=4.46', '==4.50').isAtLeast('transformers', '4.46')).toBe('yes');
    expect(asked('>=4.40', '==4.50').isAtLeast('transformers', '4.46')).toBe('unknown');
    expect(asked('>=4.30', '==4.40').isAtLeast('transformers', '4.46')).toBe('no');
    expect(asked('==4.50', 'a branch').isAtLeast('transformers', '4.46')).toBe('unknown');
    expect(asked().isAtLeast('transformers', '4.46')).toBe('unknown');
    expect(asked('==4.50').isAtLeast('torch', '2.0')).toBe('unknown');
  });

  test('one that holds only on some systems needs the others to agree', () => {
    const pin = (text: string, isConditional: boolean) => ({
      ...pinOf(text, 'a:1'),
      text,
      source: 'a:1',
      isConditional,
    });
    const versions = (...pins: readonly ReturnType<typeof pin>[]) => new Versions(new Map([['torch', pins]]));
    expect(versions(pin('<2.6', true), pin('>=2.2', true)).isAtLeast('torch', '2.6')).toBe('unknown');
    expect(versions(pin('<2.6', true), pin('>=2.6', true)).isAtLeast('torch', '2.6')).toBe('unknown');
    expect(versions(pin('<2.6', true), pin('==2.5', true)).isAtLeast('torch', '2.6')).toBe('no');
    expect(versions(pin('<2.6', true)).pinBelow('torch', '2.6')).toMatchObject({ text: '<2.6' });
    expect(versions(pin('>=2.6', true), pin('==2.5', false)).isAtLeast('torch', '2.6')).toBe('no');
    expect(versions(pin('>=2.6', true), pin('>=2.7', true)).isAtLeast('torch', '2.6')).toBe('yes');
  });

  test('the line that is in the way is named', () => {
    expect(asked('>=4.30', '==4.40').pinBelow('transformers', '4.46')).toMatchObject({ text: '==4.40' });
    expect(asked('>=4.30').pinBelow('transformers', '4.46')).toBeUndefined();
  });
});

test('versions compare by number', () => {
  expect(compareVersions('4.9', '4.10')).toBeLessThan(0);
  expect(compareVersions('2', '2.0.0')).toBe(0);
  expect(compareVersions('10', '9.9')).toBeGreaterThan(0);
});

describe('who is believed', () => {
  const said = (text: string, more: Partial<Pin> = {}): Pin => ({ ...pinOf(text, 'there'), ...more });
  const answers = (...pins: readonly Pin[]) => {
    const versions = new Versions(new Map([['torch', pins]]));
    return ['2.0', '2.5'].map((version) => versions.isAtLeast('torch', version));
  };

  test.each([
    [
      'an environment before a request',
      [said('>=1.8'), said('==2.4', { authority: 'environment' })],
      'yes no',
    ],
    ['a lock file before a request', [said('>=1.8'), said('==2.4', { authority: 'lock' })], 'yes no'],
    [
      'an environment before a lock file',
      [said('==2.4', { authority: 'lock' }), said('==2.6', { authority: 'environment' })],
      'yes no',
    ],
    [
      'the user before all',
      [said('==1.8', { authority: 'lock' }), said('==2.6', { authority: 'target' })],
      'yes yes',
    ],
    [
      'an upper bound beside what is installed',
      [said('<2.0'), said('==2.6', { authority: 'environment' })],
      'no no',
    ],
    [
      'what a package promises beside what is installed here',
      [said('>=1.8', { isPromise: true }), said('==2.6', { authority: 'environment' })],
      'unknown unknown',
    ],
    ['a newest one last', [said('*'), said('>=2.0')], 'yes unknown'],
  ] as const)('%s', (_, pins, expected) => {
    expect(answers(...pins).join(' ')).toBe(expected);
  });

  test('a package is installed where it is named, extras and some systems aside', () => {
    const versions = new Versions(
      new Map([
        ['peft', [said('*')]],
        ['trl', [said('==0.9', { isOptional: true })]],
        ['bitsandbytes', [said('*', { isConditional: true })]],
      ]),
    );
    const names = ['peft', 'trl', 'bitsandbytes', 'diffusers'];
    expect(names.filter((name) => versions.installs(name) !== undefined)).toEqual(['peft']);
  });
});
