import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { root } from '../../src/dev/project.js';
import { toolsPython } from '../support/python-tools.js';
import { buildWheel, WHEELS } from '../support/wheel.js';
import { commit, git, put, repositoryWith } from '../workspace/folders.js';

const BAD =
  'import torch\n\n\ndef evaluate(model, loader):\n    model.eval()\n    for batch in loader:\n        print(model(batch).sum().item())\n';
const ARGS =
  'from transformers import TrainingArguments\n\nargs = TrainingArguments(\n    output_dir="out",\n    gradient_checkpointing=True,\n)\n';
const PINS = 'torch==2.4.0\ntransformers==4.44.0\n';

vi.setConfig({ testTimeout: 240_000 });

/** A Node.js of 200 MB is not installed each time; test/dev/wheel.test.ts does so. */
const ALONE = { PIP_NO_DEPS: '1' };

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'memfix-ci-')));

beforeAll(() => {
  toolsPython();
  buildWheel();
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

function run(
  cwd: string,
  env: Readonly<Record<string, string>>,
  command: string,
  ...args: readonly string[]
): Ended {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: {
      ...process.env,
      PIP_FIND_LINKS: WHEELS,
      MEMFIX_STATE_DIR: join(folder, 'state'),
      GIT_CONFIG_GLOBAL: '/dev/null',
      ...env,
    },
  });
  if (error !== undefined) throw error;
  return { code: status, output: stdout + stderr };
}

describe('pre-commit', () => {
  test('installs and runs both hooks as a repository of hooks has them', {
    timeout: 240_000,
  }, () => {
    const source = Object.fromEntries(
      ['.pre-commit-hooks.yaml', 'pyproject.toml'].map((name) => [name, readFileSync(join(root, name))]),
    );
    const hooks = repositoryWith(source);
    const revision = git(hooks, 'rev-parse', 'HEAD').trim();
    const cwd = repositoryWith({
      '.pre-commit-config.yaml': `repos:\n- repo: ${hooks}\n  rev: ${revision}\n  hooks:\n  - id: memfix-apply\n  - id: memfix\n    args: [--fail-on=safe]\n`,
      'pyproject.toml': '[tool.memfix]\nexclude = ["legacy/"]\n',
      'requirements.txt': PINS,
      'finetune.py': ARGS,
      'legacy/old.py': ARGS,
    });
    const env = { PRE_COMMIT_HOME: join(folder, 'pre-commit') };
    const hook = (...ids: readonly string[]) =>
      run(cwd, env, toolsPython(), '-m', 'pre_commit', 'run', '--color=never', '--all-files', ...ids);

    const check = hook('memfix');
    expect(check.output).toMatch(/memfix check\.+Failed\n/);
    expect(check.output).toContain('finetune.py:5:5: gradient-checkpointing-kwargs [safe]');
    expect(check.output).not.toMatch(/^legacy\/old\.py:/m);

    const both = hook();
    expect(both.output).toMatch(
      /memfix apply\.+Failed\n- hook id: memfix-apply\n- files were modified by this hook/,
    );
    expect(both.output).toMatch(/memfix check\.+Passed\n/);
    expect(git(cwd, 'diff', '--name-only')).toBe('finetune.py\n');

    commit(cwd);
    expect(hook().code).toBe(0);
  });
});

describe('the GitHub Action', () => {
  interface Step {
    readonly run?: string;
    readonly env?: Readonly<Record<string, string>>;
  }
  const action: {
    readonly inputs: Readonly<Record<string, { readonly default: string }>>;
    readonly runs: { readonly steps: readonly Step[] };
  } = parse(readFileSync(join(root, 'action.yml'), 'utf8'));

  /** What a runner puts in place of an expression. */
  const filled = (text: string, inputs: Readonly<Record<string, string>>) =>
    text.replace(/\$\{\{ (\S+) \}\}/g, (whole, name: string) => {
      if (name === 'github.action_path') return root;
      const input = /^inputs\.(.*)$/.exec(name)?.[1];
      const value = inputs[input ?? ''] ?? action.inputs[input ?? '']?.default;
      if (value === undefined) throw new Error(`the test knows no ${whole}`);
      return value;
    });

  /** Runs the steps as a runner does, each with its environment; the file that a step writes to says what it answers. */
  function act(
    cwd: string,
    inputs: Readonly<Record<string, string>>,
    env: Readonly<Record<string, string>>,
    steps = action.runs.steps,
  ) {
    const place = mkdtempSync(join(folder, 'runner-'));
    const files = { GITHUB_OUTPUT: join(place, 'output'), GITHUB_STEP_SUMMARY: join(place, 'summary') };
    for (const file of Object.values(files)) writeFileSync(file, '');
    let ended: Ended = { code: 0, output: '' };
    for (const step of steps.filter((each) => each.run !== undefined)) {
      const own = Object.fromEntries(
        Object.entries(step.env ?? {}).map(([name, text]) => [name, filled(text, inputs)]),
      );
      const runner = {
        ...ALONE,
        GITHUB_ACTIONS: 'true',
        CI: 'true',
        RUNNER_TEMP: join(folder, 'runner'),
        ...files,
        ...env,
      };
      const words = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', filled(step.run ?? '', inputs)];
      const { code, output } = run(cwd, { ...runner, ...own }, 'bash', ...words);
      ended = { code, output: ended.output + output };
      if (ended.code !== 0) break;
    }
    const [output, summary] = [files.GITHUB_OUTPUT, files.GITHUB_STEP_SUMMARY].map((file) =>
      readFileSync(file, 'utf8'),
    );
    return { ...ended, answers: output, summary };
  }

  test('annotates, writes SARIF and a summary, and fails as it is told', () => {
    const cwd = repositoryWith({ 'requirements.txt': PINS, 'finetune.py': ARGS, 'deep/evaluate.py': BAD });
    const all = act(cwd, {}, {});
    expect(all.output).toMatch(/^memfix \d+\.\d+\.\d+\n/m);
    expect(all.output).toMatch(
      /^::warning title=memfix%3A gradient-checkpointing-kwargs,file=finetune\.py,line=5,/m,
    );
    expect(all.code).toBe(1);
    expect(all.answers).toBe('exit-code=1\nsarif-file=memfix.sarif\n');
    expect(
      JSON.parse(readFileSync(join(cwd, 'memfix.sarif'), 'utf8')).runs[0].results.length,
    ).toBeGreaterThan(1);
    expect(all.summary).toContain('| `finetune.py:5` | `gradient-checkpointing-kwargs` | safe |');
    expect(all.summary).toContain('+    gradient_checkpointing_kwargs={"use_reentrant": False},');

    const [, ...check] = action.runs.steps;
    const quiet = { 'sarif-file': '', summary: 'false' };
    const again = (inputs: Readonly<Record<string, string>>, env = {}) =>
      act(cwd, { ...quiet, ...inputs }, env, check);
    expect(again({ 'fail-on': 'never' })).toMatchObject({ code: 0, answers: 'exit-code=0\n', summary: '' });
    expect(again({ 'fail-on': 'leak' }).code).toBe(0);
    expect(again({ 'fail-on': 'safe' }).code).toBe(1);
    expect(again({ paths: 'deep', args: '--select no-grad' }).output).not.toContain('finetune.py');
    expect(again({ paths: '$(touch pwned) --help' }).code).toBe(2);
    expect(git(cwd, 'status', '--porcelain')).toBe('?? memfix.sarif\n');
  });

  test('in a pull request, a shallow checkout reports what the branch changed', () => {
    const origin = repositoryWith({ 'requirements.txt': PINS, 'finetune.py': ARGS });
    for (let index = 0; index < 3; index++) commit(origin);
    git(origin, 'checkout', '--quiet', '-b', 'topic');
    put(origin, { 'more.py': ARGS });
    commit(origin);
    commit(origin);
    const cwd = join(folder, 'shallow');
    git(folder, 'clone', '--quiet', '--depth=1', '--branch=topic', `file://${origin}`, cwd);
    const [, ...check] = action.runs.steps;
    const asked = { 'sarif-file': '', summary: 'false' };
    const changed = act(cwd, asked, { GITHUB_BASE_REF: 'main' }, check);
    expect(changed.output).toContain('file=more.py');
    expect(changed.output).not.toContain('file=finetune.py');
    expect(act(cwd, asked, {}, check).output).toContain('file=finetune.py');
  });

  test('never puts an input into the text of a script', () => {
    for (const { run: script } of action.runs.steps) expect(script ?? '').not.toContain('${{');
  });
});

describe('the template for GitLab', () => {
  test('runs in a merge request, and leaves its reports', () => {
    const [head, body] = parseAllDocuments(readFileSync(join(root, 'ci', 'gitlab.yml'), 'utf8')).map((each) =>
      each.toJS(),
    );
    const inputs: Readonly<Record<string, { default: string }>> = head.spec.inputs;
    const filled = (text: string) =>
      text.replace(/\$\[\[ inputs\.(\S+) \]\]/g, (_, name: string) => inputs[name]?.default ?? '?');
    const { memfix } = body;
    const variables = Object.fromEntries(
      Object.entries<string>(memfix.variables).map(([name, text]) => [name, filled(text)]),
    );
    const cwd = repositoryWith({
      'requirements.txt': PINS,
      'finetune.py': ARGS,
      '.gitignore': '.memfix-venv/\n*.json\n*.xml\n',
    });
    const base = git(cwd, 'rev-parse', 'HEAD').trim();
    put(cwd, { 'more.py': ARGS });
    commit(cwd);
    const script = (env: Readonly<Record<string, string>>, lines: readonly string[]) =>
      run(cwd, { ...ALONE, ...variables, ...env, GITLAB_CI: 'true' }, 'sh', '-ec', lines.join('\n'));
    expect(script({}, memfix.before_script)).toMatchObject({ code: 0 });
    const ended = script({ CI_MERGE_REQUEST_DIFF_BASE_SHA: base }, memfix.script);
    expect(ended.code).toBe(1);
    const { codequality, junit } = memfix.artifacts.reports;
    const issues = JSON.parse(readFileSync(join(cwd, codequality), 'utf8'));
    expect(issues).toMatchObject([
      { check_name: 'gradient-checkpointing-kwargs', location: { path: 'more.py' } },
    ]);
    expect(readFileSync(join(cwd, junit), 'utf8')).toContain('failures="1"');
    expect(script({}, memfix.script).output).toContain('finetune.py:5:5');
    expect(script({ MEMFIX_FAIL_ON: 'never' }, memfix.script).code).toBe(0);
  });
});

/** The schema for each file that a forge reads. */
const READ_BY_FORGES = [
  ['vendor.github-actions', ['action.yml']],
  ['vendor.gitlab-ci', ['ci/gitlab.yml']],
  ['vendor.citation-file-format', ['CITATION.cff']],
  ['vendor.github-workflows', below('.github/workflows')],
  [
    'vendor.github-issue-forms',
    below('.github/ISSUE_TEMPLATE').filter((name) => !name.endsWith('config.yml')),
  ],
  ['vendor.github-issue-config', ['.github/ISSUE_TEMPLATE/config.yml']],
] as const;

function below(name: string): readonly string[] {
  return readdirSync(join(root, name)).map((each) => `${name}/${each}`);
}

test.each(READ_BY_FORGES)('%s accepts %j', (schema, files) => {
  const places = files.map((file) => {
    const place = join(folder, file.replaceAll('/', '-'));
    // The header with the inputs is a document of its own.
    writeFileSync(place, readFileSync(join(root, file), 'utf8').split(/^---$/m).at(-1) ?? '');
    return place;
  });
  const words = schema === 'vendor.gitlab-ci' ? ['--data-transform', 'gitlab-ci'] : [];
  const program = join(dirname(toolsPython()), 'check-jsonschema');
  const type = ['--default-filetype', 'yaml'];
  expect(run(root, {}, program, '--builtin-schema', schema, ...type, ...words, ...places)).toMatchObject({
    code: 0,
  });
});

test('pre-commit accepts the manifest of its hooks', () => {
  const ended = run(
    root,
    {},
    toolsPython(),
    '-m',
    'pre_commit',
    'validate-manifest',
    '.pre-commit-hooks.yaml',
  );
  expect(ended).toEqual({ code: 0, output: '' });
});
