import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Dependencies, type Premises } from '../../src/workspace/dependencies.js';
import { readPyproject, readRequirements } from '../../src/workspace/dependency-files.js';
import { Folders } from '../../src/workspace/folders.js';
import { type Files, folderWith, put, repositoryWith } from './folders.js';

/** What is found for a folder, as `package specifier @ place`. */
function found(cwd: string, folder = '.', targets: Readonly<Record<string, string>> = {}): readonly string[] {
  const dependencies = new Dependencies(cwd, new Folders(cwd), {
    configured: new Map(Object.entries(targets)),
  });
  const { pins } = dependencies.foundFor(join(cwd, folder));
  return [...pins].flatMap(([name, all]) => all.map(({ text, source }) => `${name} ${text} @ ${source}`));
}

const inFolder = (files: Files) => found(folderWith(files));

describe('requirements files', () => {
  test('extras, markers, comments, options, hashes and continued lines', () => {
    const text = [
      '# transformers==1.0',
      '--extra-index-url https://download.example.org/whl',
      'torch==2.1.0+cu118  # the GPU build',
      'Transformers[torch,sentencepiece] >=4.40, <4.46 ; python_version >= "3.9"',
      'peft \\',
      '    ~=0.10.0 \\',
      '    --hash=sha256:abc',
      'bitsandbytes (>=0.43)',
      'torchvision==0.16',
      'accelerate',
      'my-trl==0.1',
      'trl == 0.9.*',
    ].join('\r\n');
    expect(inFolder({ 'requirements.txt': text })).toEqual([
      'accelerate * @ requirements.txt:10',
      'bitsandbytes >=0.43 @ requirements.txt:8',
      'peft ~=0.10.0 @ requirements.txt:5',
      'torch ==2.1.0+cu118 @ requirements.txt:3',
      'transformers >=4.40, <4.46 @ requirements.txt:4',
      'trl == 0.9.* @ requirements.txt:12',
    ]);
  });

  test('addresses are known to be unknown, unless they say', () => {
    const text = [
      'transformers @ git+https://user:secret@example.org/huggingface/transformers@v4.40',
      'git+https://example.org/huggingface/peft.git@main#egg=peft',
      'https://example.org/whl/torch-2.1.0%2Bcu118-cp310-cp310-linux_x86_64.whl',
      '-e git+https://example.org/huggingface/trl.git#egg=trl',
    ].join('\n');
    expect(inFolder({ 'requirements.txt': text })).toEqual([
      'peft from an address @ requirements.txt:2',
      'torch ==2.1.0 @ requirements.txt:3',
      'transformers ==4.40 @ requirements.txt:1',
      'trl from an address @ requirements.txt:4',
    ]);
  });

  test('options after a requirement, as people write them', () => {
    const text = [
      '-f https://example.org/whl/torch_stable.html',
      '--find-links https://example.org/whl/torch',
      'torch==1.6 -f https://example.org/whl/torch_stable.html',
    ].join('\n');
    expect(inFolder({ 'requirements.txt': text })).toEqual(['torch ==1.6 @ requirements.txt:3']);
  });

  test('one revision stays what it is, a branch moves', () => {
    const text = [
      'transformers @ git+https://example.org/huggingface/transformers@e45e756d2220',
      'peft @ git+https://example.org/huggingface/peft.git@main',
      'trl @ git+ssh://git@example.org/huggingface/trl.git',
      'torch @ file:///wheels/torch.whl',
    ].join('\n');
    const { statements } = readRequirements(text, 'requirements.txt');
    expect(statements.filter(([, { isFrozen }]) => isFrozen).map(([name]) => name)).toEqual([
      'transformers',
      'torch',
    ]);
  });

  test('revisions in tables', () => {
    const text = `
[tool.uv.sources]
peft = { git = "https://example.org/peft", rev = "3714aa2fff15" }
trl = { git = "https://example.org/trl", tag = "v0.9.4" }
accelerate = { git = "https://example.org/accelerate", branch = "main" }
`;
    expect(
      readPyproject(text, 'pyproject.toml').map(([name, pin]) => [name, pin.text, pin.isFrozen]),
    ).toEqual([
      ['peft', 'from an address', true],
      ['trl', '==0.9.4', undefined],
      ['accelerate', 'from an address', undefined],
    ]);
  });

  test('includes and constraints are followed, in circles and out of the project not', () => {
    const outer = folderWith({
      'secret.txt': 'trl==0.1\n',
      'repo/.git/HEAD': '',
      'repo/requirements.txt':
        '-r deps/base.txt\n--constraint=deps/limits.txt\n-r ../secret.txt\n-r https://x/y.txt\n',
      'repo/deps/base.txt': 'torch>=2.0\n-r ../requirements.txt\n',
      'repo/deps/limits.txt': 'peft<0.12\n',
    });
    expect(found(join(outer, 'repo'))).toEqual([
      'peft <0.12 @ deps/limits.txt:1',
      'torch >=2.0 @ deps/base.txt:1',
    ]);
  });

  test('every file of the name counts, and the folder of the name', () => {
    const files = {
      'requirements-dev.txt': 'torch>=2.0\n',
      'requirements_gpu.txt': 'torch==2.4\n',
      'requirements/train.txt': 'trl==0.9\n',
      'requirements/notes.md': 'peft==1\n',
      'old-requirements.txt': 'peft==1\n',
    };
    expect(inFolder(files)).toEqual([
      'torch >=2.0 @ requirements-dev.txt:1',
      'torch ==2.4 @ requirements_gpu.txt:1',
      'trl ==0.9 @ requirements/train.txt:1',
    ]);
  });

  test('what cannot be read says nothing', () => {
    const cwd = folderWith();
    mkdirSync(join(cwd, 'requirements.txt'));
    expect(found(cwd)).toEqual([]);
    expect(found(cwd, 'not/there')).toEqual([]);
  });
});

describe('pyproject.toml', () => {
  test('PEP 621, its extras, groups and uv', () => {
    const text = `
[project]
name = "x"  # transformers
dependencies = [
    "numpy",
    "transformers[torch]>=4.40,<4.46; python_version > '3.8'",
    "torch",
]
[project.optional-dependencies]
train = ["trl>=0.9"]
[dependency-groups]
gpu = ["bitsandbytes==0.43.1", { include-group = "other" }]
[tool.uv]
constraint-dependencies = ["peft<0.12"]
[tool.uv.sources]
accelerate = { git = "https://example.org/accelerate" }
torch = { index = "pytorch-cu121" }
`;
    expect(inFolder({ 'pyproject.toml': text })).toEqual([
      'accelerate from an address @ pyproject.toml:16',
      'bitsandbytes ==0.43.1 @ pyproject.toml:12',
      'peft <0.12 @ pyproject.toml:14',
      'torch * @ pyproject.toml:6',
      'transformers >=4.40,<4.46 @ pyproject.toml:6',
      'trl >=0.9 @ pyproject.toml:10',
    ]);
  });

  test('poetry and its operators', () => {
    const cwd = folderWith({
      'pyproject.toml': `
[tool.poetry.dependencies]
python = "^3.9"
torch = "^2.1"
transformers = { version = "~4.40", extras = ["torch"] }
peft = "0.10.*"
diffusers = "*"
trl = [{ version = ">=0.8 <0.9", python = "<3.10" }, { version = "^0.9", python = ">=3.10" }]
accelerate = { git = "https://example.org/accelerate" }
[tool.poetry.group.gpu.dependencies]
bitsandbytes = "^0.43.1"
`,
    });
    expect(found(cwd)).toEqual([
      'accelerate from an address @ pyproject.toml:9',
      'bitsandbytes ^0.43.1 @ pyproject.toml:11',
      'diffusers * @ pyproject.toml:7',
      'peft 0.10.* @ pyproject.toml:6',
      'torch ^2.1 @ pyproject.toml:4',
      'transformers ~4.40 @ pyproject.toml:5',
      'trl >=0.8 <0.9 @ pyproject.toml:8',
      'trl ^0.9 @ pyproject.toml:8',
    ]);
    const { versions } = new Dependencies(cwd, new Folders(cwd), { configured: new Map() }).foundFor(cwd);
    const asked = [
      ['torch', '2.1', 'yes'],
      ['torch', '2.2', 'unknown'],
      ['torch', '3.0', 'no'],
      ['transformers', '4.40', 'yes'],
      ['transformers', '4.41', 'no'],
      ['peft', '0.11', 'no'],
      ['bitsandbytes', '0.44', 'no'],
      ['bitsandbytes', '0.43.1', 'yes'],
      ['trl', '0.9', 'unknown'],
      ['trl', '1.0', 'no'],
    ] as const;
    for (const [name, version, answer] of asked)
      expect([name, version, versions.isAtLeast(name, version)]).toEqual([name, version, answer]);
  });

  test('one that is broken says nothing', () => {
    expect(inFolder({ 'pyproject.toml': '[project]\ndependencies = ["torch==2.1"\n' })).toEqual([]);
    expect(inFolder({ 'pyproject.toml': 'project = "torch"\n[tool]\npoetry = ["torch"]\n' })).toEqual([]);
  });
});

describe('other files', () => {
  test('setup.cfg', () => {
    const text = `[metadata]
name = torch
[options]
python_requires = >=3.8
install_requires =
    torch>=1.13,<2.1
    transformers ~= 4.30  # for the tokenizer
package_dir =
    = src
[options.extras_require]
train =
    trl==0.7
peft = peft<0.6
`;
    expect(inFolder({ 'setup.cfg': text })).toEqual([
      'peft <0.6 @ setup.cfg:13',
      'torch >=1.13,<2.1 @ setup.cfg:6',
      'transformers ~= 4.30 @ setup.cfg:7',
      'trl ==0.7 @ setup.cfg:12',
    ]);
  });

  test('what conda lists', () => {
    const text = '# platform: linux-64\npytorch=1.13.1=py3.8_cuda11.7_0\ntrl=0.7.4=pypi_0\npeft==0.10.0\n';
    const cwd = folderWith({ 'requirements.txt': text });
    expect(found(cwd)).toEqual([
      'peft ==0.10.0 @ requirements.txt:4',
      'torch ==1.13.1.* @ requirements.txt:2',
      'trl ==0.7.4.* @ requirements.txt:3',
    ]);
  });

  test('conda environments', () => {
    const text = `name: train
channels:
  - pytorch
  - transformers
dependencies:
  - python=3.10
  - pytorch::pytorch=2.1   # with CUDA
  - pytorch-cuda=11.8
  - "accelerate>=0.26,<0.30"
  - peft 0.10.*
  - diffusers=0.27.2=pyhd8ed1ab_0
  - pip:
      - -f https://example.org/whl/torch_stable.html
      - --extra-index-url https://example.org/whl/torch
      - transformers==4.40.1 --find-links https://example.org/transformers
      - trl
`;
    const cwd = folderWith({ 'environment.yml': text });
    expect(found(cwd)).toEqual([
      'accelerate >=0.26,<0.30 @ environment.yml:9',
      'diffusers ==0.27.2.* @ environment.yml:11',
      'peft ==0.10.* @ environment.yml:10',
      'python ==3.10.* @ environment.yml:6',
      'torch ==2.1.* @ environment.yml:7',
      'transformers ==4.40.1 @ environment.yml:15',
      'trl * @ environment.yml:16',
    ]);
  });

  test('lock files', () => {
    const uv = `version = 1

[[package]]
name = "transformers"
version = "4.46.1"
source = { registry = "https://example.org/simple" }
dependencies = [
    { name = "torch" },
]

[[package]]
name = "torchvision"
version = "0.19.0"
`;
    expect(inFolder({ 'uv.lock': uv })).toEqual(['transformers ==4.46.1 @ uv.lock:5']);
    const poetry = '[[package]]\r\nname = "torch"\r\nversion = "2.4.0"\r\ndescription = "x"\r\n';
    expect(inFolder({ 'poetry.lock': poetry })).toEqual(['torch ==2.4.0 @ poetry.lock:3']);
    expect(inFolder({ 'pdm.lock': poetry })).toEqual(['torch ==2.4.0 @ pdm.lock:3']);
    const standard = 'lock-version = "1.0"\n\n[[packages]]\nname = "torch"\nversion = "2.4.0"\n';
    expect(inFolder({ 'pylock.toml': standard })).toEqual(['torch ==2.4.0 @ pylock.toml:5']);
    const pipenv = { default: { torch: { version: '==2.4.0' }, numpy: { version: '==1' } }, develop: {} };
    expect(inFolder({ 'Pipfile.lock': JSON.stringify(pipenv) })).toEqual(['torch ==2.4.0 @ Pipfile.lock']);
    expect(inFolder({ 'Pipfile.lock': '{"default": {"torch": ' })).toEqual([]);
    const conda = 'version: 1\npackage:\n- name: pytorch\n  version: 2.4.0\n  manager: conda\n';
    expect(inFolder({ 'conda-lock.yml': conda })).toEqual(['torch ==2.4.0 @ conda-lock.yml:4']);
  });

  test('requirements that pip-compile or uv wrote are a lock file', () => {
    const compiled = '#\n# This file is autogenerated by pip-compile with Python 3.11\n#\ntorch==2.4.0\n';
    const uv = '# This file was autogenerated by uv via the following command:\ntorch==2.4.0\n';
    for (const text of [compiled, uv]) {
      const cwd = folderWith({ 'requirements.txt': text, 'setup.cfg': '[options]\ninstall_requires =\n' });
      const { pins } = new Dependencies(cwd, new Folders(cwd), { configured: new Map() }).foundFor(cwd);
      expect(pins.get('torch')).toMatchObject([{ text: '==2.4.0', authority: 'lock' }]);
    }
  });

  test('Pipfile', () => {
    const text = '[packages]\ntorch = "==2.1.0"\npeft = "*"\n[dev-packages]\ntrl = ">=0.9"\n';
    expect(inFolder({ Pipfile: text })).toEqual([
      'peft * @ Pipfile:3',
      'torch ==2.1.0 @ Pipfile:2',
      'trl >=0.9 @ Pipfile:5',
    ]);
  });

  test('setup.py', () => {
    const text = `from setuptools import setup
# "torch==1.0"
extras = {"train": ["trl>=0.9"]}
setup(
    name="peft",
    install_requires=["numpy", "torch[opt]>=1.13.0", 'transformers'],
    keywords="diffusers accelerate",
    extras_require=extras,
)
`;
    expect(inFolder({ 'setup.py': text })).toEqual([
      'torch >=1.13.0 @ setup.py:6',
      'transformers * @ setup.py:6',
      'trl >=0.9 @ setup.py:3',
    ]);
  });

  test('Dockerfiles: images and what they install', () => {
    const text = `# syntax=docker/dockerfile:1
FROM --platform=linux/amd64 pytorch/pytorch:1.8.1-cuda11.1-cudnn8-runtime AS base
RUN apt-get update && apt-get install -y git
RUN pip install --no-cache-dir \\
    # pinned
    'transformers==4.30.2' \\
    "peft>=0.4,<0.5" numpy && python -m pip install -U trl
RUN conda install -y accelerate=0.20 -c conda-forge
RUN pip3 install diffusers==$VERSION
`;
    expect(inFolder({ Dockerfile: text })).toEqual([
      'accelerate ==0.20.* @ Dockerfile:8',
      'diffusers ==$VERSION @ Dockerfile:9',
      'peft >=0.4,<0.5 @ Dockerfile:4',
      'torch ==1.8.1 @ Dockerfile:2',
      'transformers ==4.30.2 @ Dockerfile:4',
      'trl * @ Dockerfile:4',
    ]);
    // The word of an option is no requirement, whatever it is called; that of `-e` is one.
    const stable = 'https://download.example.org/whl/cu102/torch_stable.html';
    for (const options of [
      `-f ${stable}`,
      `-f${stable}`,
      `-qUf ${stable}`,
      `--find-links ${stable}`,
      `--find-links=${stable}`,
      '--extra-index-url https://example.org/whl/torch',
      '-i https://example.org/torch/',
      '-t torch --no-binary torch --log torch',
      'detectron2 -f https://example.org/wheels/cu101/torch1.8/index.html',
      'https://example.org/whl/torch-1.8.0+cu101/torch_scatter-2.0.7-cp37-cp37m-linux_x86_64.whl',
      'git+https://example.org/toshas/torch-fidelity.git',
      'git+https://example.org/rusty/scatter.git#egg=torch-scatter',
    ])
      for (const command of [
        `pip install --user torch==1.6 ${options}`,
        `pip install ${options} torch==1.6`,
        `uv pip install --system torch==1.6 ${options}`,
      ])
        expect(inFolder({ Dockerfile: `RUN ${command}\n` }), command).toEqual(['torch ==1.6 @ Dockerfile:1']);
    expect(
      inFolder({ Dockerfile: 'RUN conda install -n torch -yc pytorch pytorch=1.6 -p /torch\n' }),
    ).toEqual(['torch ==1.6.* @ Dockerfile:1']);
    expect(inFolder({ Dockerfile: 'RUN conda install -c pytorch numpy\n' })).toEqual([]);
    expect(inFolder({ Dockerfile: 'RUN pip install -e git+https://example.org/a/trl.git@abc123\n' })).toEqual(
      ['trl from an address @ Dockerfile:1'],
    );
    // What is known of no option is not left out.
    expect(inFolder({ Dockerfile: 'RUN pip install -q --fancy --pre torch==1.6\n' })).toEqual([
      'torch ==1.6 @ Dockerfile:1',
    ]);
    const nvidia = 'FROM nvcr.io/nvidia/pytorch:23.10-py3\n';
    const cwd = folderWith({ Dockerfile: nvidia });
    const { versions } = new Dependencies(cwd, new Folders(cwd), { configured: new Map() }).foundFor(cwd);
    expect(['1.13', '2.0', '3.0'].map((version) => versions.isAtLeast('torch', version))).toEqual([
      'yes',
      'unknown',
      'unknown',
    ]);
    expect(inFolder({ 'docker/Dockerfile.gpu': nvidia })).toEqual([
      'torch nvcr.io/nvidia/pytorch:23.10-py3 @ docker/Dockerfile.gpu:1',
    ]);
    expect(inFolder({ 'train.dockerfile': 'FROM python:3.7-slim\n' })).toEqual([
      'python ==3.7 @ train.dockerfile:1',
    ]);
    expect(inFolder({ Dockerfile: 'FROM pytorch/pytorch:latest\nFROM ubuntu:22.04\n' })).toEqual([
      'torch pytorch/pytorch:latest @ Dockerfile:1',
    ]);
  });
});

describe('whose files', () => {
  const MONOREPO = {
    'uv.lock': '[[package]]\nname = "torch"\nversion = "2.2.0"\n',
    'requirements.txt': 'torch>=2.0\ntransformers==4.40\n',
    'packages/new/pyproject.toml': '[project]\ndependencies = ["transformers>=4.46"]\n',
    'packages/old/train.py': '',
  };

  test('the nearest folder that speaks of a package; a lock above it counts too', () => {
    const cwd = repositoryWith(MONOREPO);
    expect(found(cwd, 'packages/new/src/deep')).toEqual([
      'torch ==2.2.0 @ uv.lock:3',
      'torch >=2.0 @ requirements.txt:1',
      'transformers >=4.46 @ packages/new/pyproject.toml:2',
    ]);
    expect(found(cwd, 'packages/old')).toContain('transformers ==4.40 @ requirements.txt:2');
  });

  test('nothing above the root of the repository, and nothing above the top without one', () => {
    const outer = folderWith({ 'requirements.txt': 'torch==1.0\n', 'repo/.git/HEAD': '', 'plain/a.py': '' });
    expect(found(join(outer, 'repo'))).toEqual([]);
    expect(found(join(outer, 'plain'))).toEqual([]);
    expect(found(outer, 'plain')).toEqual(['torch ==1.0 @ requirements.txt:1']);
  });

  test('`target-versions` wins, and is a series', () => {
    const cwd = folderWith({ 'requirements.txt': 'torch==1.0\n' });
    expect(found(cwd, '.', { torch: '2.4' })).toEqual(['torch 2.4 @ `target-versions`']);
    const { versions } = new Dependencies(cwd, new Folders(cwd), {
      configured: new Map([['torch', '2.4']]),
    }).foundFor(cwd);
    expect(['2.4', '2.5'].map((version) => versions.isAtLeast('torch', version))).toEqual(['yes', 'no']);
  });

  test('folders that have all from one place share it; its name follows from the content', () => {
    const cwd = repositoryWith(MONOREPO);
    const fresh = () => new Dependencies(cwd, new Folders(cwd), { configured: new Map() });
    const dependencies = fresh();
    expect(dependencies.foundFor(join(cwd, 'packages/old'))).toBe(dependencies.foundFor(cwd));
    const before = fresh().foundFor(cwd).key;
    expect(fresh().foundFor(cwd).key).toBe(before);
    put(cwd, { 'requirements.txt': 'torch>=2.0\ntransformers==4.41\n' });
    expect(fresh().foundFor(cwd).key).not.toBe(before);
  });
});

describe('environments', () => {
  const SITE = 'lib/python3.11/site-packages';
  const installed = (cwd: string, premises: Partial<Premises> = {}) => {
    const dependencies = new Dependencies(cwd, new Folders(cwd), { configured: new Map(), ...premises });
    const { pins } = dependencies.foundFor(cwd);
    return [...pins].flatMap(([name, all]) =>
      all.map(({ text, source, authority }) => `${name} ${text} @ ${source} ${authority ?? ''}`.trimEnd()),
    );
  };

  test('of the project, by the names that installers leave', () => {
    const cwd = folderWith({
      'requirements.txt': 'torch>=1.8\n',
      [`.venv/${SITE}/torch-2.6.0+cu124.dist-info/METADATA`]: 'Version: 2.6.0\n',
      [`.venv/${SITE}/torchvision-0.21.0.dist-info/METADATA`]: '',
      [`.venv/${SITE}/transformers/__init__.py`]: '',
      [`venv/${SITE}/trl-0.9.0.dist-info/METADATA`]: '',
    });
    expect(installed(cwd)).toEqual([
      'torch 2.6.0+cu124 @ .venv environment',
      'torch >=1.8 @ requirements.txt:1',
    ]);
    expect(installed(cwd, { isTarget: true })).toEqual(['torch >=1.8 @ requirements.txt:1']);
  });

  test('that are active, after the one of the project', () => {
    const active = folderWith({
      [`lib/python3.11/site-packages/torch-2.4.0.dist-info/METADATA`]: '',
      [`lib/python3.11/site-packages/peft-0.12.0.dist-info/METADATA`]: '',
    });
    const conda = folderWith({
      'conda-meta/pytorch-2.1.0-py3.10_cuda12.1_0.json': '{}',
      'conda-meta/diffusers-0.27.2-pyhd8ed1ab_0.json': '{}',
      'conda-meta/history': '',
    });
    const cwd = folderWith({ 'env/Lib/site-packages/torch-2.6.0.dist-info/METADATA': '' });
    expect(installed(cwd, { environments: [active, conda] }).map((each) => each.split(' @ ')[0])).toEqual([
      'diffusers 0.27.2',
      'peft 0.12.0',
      'torch 2.6.0',
    ]);
    expect(installed(cwd, { environments: [active], isTarget: true })).toEqual([]);
  });

  test('that are links out of the project are not looked into', () => {
    const outside = folderWith({ [`${SITE}/torch-2.6.0.dist-info/METADATA`]: '' });
    const cwd = folderWith({ 'a.py': '' });
    symlinkSync(outside, join(cwd, '.venv'));
    expect(installed(cwd)).toEqual([]);
    const inner = folderWith({ 'venv/pyvenv.cfg': '' });
    symlinkSync(join(outside, 'lib'), join(inner, 'venv/lib'));
    expect(installed(inner)).toEqual([]);
  });
});
