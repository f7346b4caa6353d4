import { describe, expect, test } from 'vitest';
import { pinOf } from '../../src/semantic/versions.js';
import { scriptSetting } from '../../src/syntax/shell.js';
import { readYaml } from '../../src/syntax/yaml.js';
import { Dependencies } from '../../src/workspace/dependencies.js';
import { Folders } from '../../src/workspace/folders.js';
import { processorTime } from '../support/processor-time.js';
import { folderWith } from './folders.js';

/** Long enough for what takes the square of it to take minutes. */
const LONG = 500_000;
const blank = ' '.repeat(LONG);
const many = (line: (index: number) => string, count = LONG / 10) =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');

/** Milliseconds; a share of a second on a machine with nothing else to do. */
const SOON = 8000;

function soon<T>(work: () => T): T {
  const taken = processorTime();
  const done = work();
  expect(taken()).toBeLessThan(SOON);
  return done;
}

describe('files that name versions are read in time that grows with their length', () => {
  const requirements = [
    ['blanks in a requirement', `torch${blank}==2.4`],
    ['blanks before an option', `torch==2.4${blank}x --hash${blank}-`],
    ['blanks in an exclusion', `torch !=${blank}(`],
    ['exclusions', `torch ${'!=1, '.repeat(LONG / 5)}(`],
    ['digits', `torch ~= 1.${'1'.repeat(LONG)}.x`],
    ['an address', `torch @ https://x/a-${'1.'.repeat(LONG / 2)}/x`],
    ['another address', `git+https://x/torch${'@1.1'.repeat(LONG / 4)}x`],
    ['brackets', `torch${'['.repeat(LONG)}`],
    ['continued lines', `torch==2.4 \\\n${'\\\n'.repeat(LONG / 2)}`],
    ['lines about one package', many((index) => `torch==2.${index}`)],
    ['includes', many((index) => `-r more${index}.txt`)],
  ] as const;

  test.each(requirements)('%s', (_, text) => {
    const cwd = folderWith({ 'requirements.txt': `${text}\n` });
    const found = soon(() =>
      new Dependencies(cwd, new Folders(cwd), { configured: new Map() }).foundFor(cwd),
    );
    expect(found.versions.pinsOf('torch').length).toBeLessThan(102);
  });

  test.each([
    ['environment.yml', `- torch${blank}2.4${blank}# x${blank}y`],
    ['environment.yml', `- "torch${blank}`],
    ['environment.yml', many(() => `-${' '.repeat(50)}torch${' '.repeat(50)}x`)],
    ['setup.cfg', `[options]\ninstall_requires =\n  torch${blank}==2.4\nx${blank}y\n`],
    ['pyproject.toml', `[project]\ndependencies = ["torch${blank}==2.4${blank}x"]\n`],
    ['pyproject.toml', `[project]\ndependencies = [${many((index) => `"torch==2.${index}",`)}]\n`],
    ['pyproject.toml', `[tool.poetry.dependencies]\ntorch = "1${blank},${blank}2"\n`],
    ['uv.lock', many((index) => `[[package]]\nname = "torch"\nversion = "2.${index}"`)],
    ['conda-lock.yml', many((index) => `- name: pytorch\n  version: 2.${index}`)],
    ['conda-lock.yml', many(() => `${' '.repeat(50)}- name: x`)],
    ['Dockerfile', `RUN ${'pip '.repeat(LONG / 4)}`],
    ['Dockerfile', `RUN pip install ${'torch==1 '.repeat(LONG / 10)}`],
    ['Dockerfile', `RUN pip install torch${'\\ '.repeat(LONG / 2)}x`],
    ['Dockerfile', `RUN pip install torch==1 ${'\\\n'.repeat(LONG / 2)}`],
    ['Dockerfile', `FROM ${'a.'.repeat(LONG / 2)}/${'b/'.repeat(LONG / 2)}:1`],
    ['Dockerfile', `RUN pip install "${'x'.repeat(LONG)}`],
    ['setup.py', `install_requires=[${'"torch",'.repeat(LONG / 10)}`],
    ['setup.py', `install_requires=[${'\n'.repeat(LONG)}#`],
    ['setup.py', many((index) => `"torch==2.${index}"`)],
    ['setup.py', `install_requires=[${'"'.repeat(LONG)}`],
    ['Pipfile.lock', `{"default": ${'{"torch": '.repeat(LONG / 10)}`],
  ])('%s: %#', (name, text) => {
    const cwd = folderWith({ [name]: `${text}\n` });
    soon(() => new Dependencies(cwd, new Folders(cwd), { configured: new Map() }).foundFor(cwd));
  });

  test('a line of a lock file is still named, and what blanks separate still read', () => {
    const cwd = folderWith({
      'uv.lock':
        'version = 1\n\n[[package]]\nname = "torch"\nversion = "2.4"\n\n[[package]]\nname = "trl"\nversion = "0.9"\n',
      'environment.yml': 'dependencies:\n  -   "conda-forge::peft   0.4"   # why\n  - accelerate\n',
      'requirements.txt': 'transformers  >= 4.40 ,  < 4.46   # why\n',
    });
    const { pins } = new Dependencies(cwd, new Folders(cwd), { configured: new Map() }).foundFor(cwd);
    const told = [...pins].flatMap(([name, all]) => all.map(({ text, source }) => [name, text, source]));
    expect(told).toEqual([
      ['accelerate', '*', 'environment.yml:3'],
      ['peft', '==0.4.*', 'environment.yml:2'],
      ['torch', '==2.4', 'uv.lock:5'],
      ['transformers', '>= 4.40 , < 4.46', 'requirements.txt:1'],
      ['trl', '==0.9', 'uv.lock:9'],
    ]);
  });

  test('a specifier of any length says that nobody can tell', () => {
    const pin = pinOf(`>=2.4,${'!=1,'.repeat(1000)}`, 'x');
    expect(pin).toEqual({ text: expect.stringMatching(/^>=2\.4.{290,300}…$/), source: 'x' });
  });
});

describe('files that code names are read in time that grows with their length', () => {
  test.each([
    ['keys', many((index) => `k${index}: 1`)],
    ['brackets', `a: ${'['.repeat(LONG)}`],
    ['dashes', `${'- '.repeat(LONG / 2)}x`],
    ['few dashes', `${'- '.repeat(3000)}x`],
    ['few brackets', `a: ${'{a: '.repeat(3000)}`],
    ['a quote', `a: "${'x\n'.repeat(LONG / 2)}"`],
  ])('YAML with %s', (_, text) => {
    expect(soon(() => readYaml(text, []))).toMatch(/longer than 32 KB|nested deeper than 64 levels/);
  });

  test('ordinary YAML is read', () => {
    const read = readYaml('a: [1, {b: [2]}]\nc:\n  - - - x\nd: 1\n', []);
    expect(typeof read === 'string' ? read : [...read.entries.keys()]).toEqual(['d']);
  });

  test.each([
    ['starters', 'python '.repeat(LONG / 7)],
    ['starters and a name', `${'python '.repeat(500)}xtrain.py`],
    ['lines', many(() => 'python xtrain.py')],
    ['settings', `${'export A=1 '.repeat(10_000)}\npython train.py`],
    ['continuations', `${'\\\n'.repeat(LONG / 2)}python train.py`],
  ])('a script with %s', (_, text) => {
    soon(() => scriptSetting(`${text}\n`, 'train.py', 'A', '1'));
  });
});
