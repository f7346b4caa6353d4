/** What a screen is made of: a command line in a folder, and what a person types at it. */
export interface State {
  readonly name: string;
  readonly words: readonly string[];
  /** Waits for the words, then types the keys. */
  readonly typed?: readonly (readonly [sees: string, keys: string])[];
  /** What is on the screen when it is drawn; without it, the state is drawn when the program has ended. */
  readonly until?: string;
  /** Of the window, where it matters. */
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
}

const PROMPT = '?=more';
/** Campaigns commit. */
const AUTHOR = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@b.c', GIT_COMMITTER_NAME: 'A', EMAIL: 'a@b.c' };
const LONG = ['apply', '-i', '--select', 'adamw-8bit', 'demo'];

/** Every state of the command line that a person meets. */
export const STATES: readonly State[] = [
  { name: 'overview', words: [] },
  { name: 'check', words: ['check', 'demo'] },
  { name: 'check, full', words: ['check', '--output-format', 'full', 'demo/train.py'] },
  { name: 'check, grouped', words: ['check', 'many.py'] },
  { name: 'check, unsafe and advice', words: ['check', '--select', 'ALL', 'demo', 'notes'] },
  { name: 'check, left alone', words: ['check', '-v', 'demo'] },
  { name: 'check, concise', words: ['check', '--output-format', 'concise', 'demo', 'notes'] },
  { name: 'statistics', words: ['check', '--statistics', '--select', 'ALL', '.'] },
  { name: 'apply, dry run', words: ['apply', '--dry-run', 'demo'] },
  { name: 'apply', words: ['apply', '--allow-dirty', 'demo', 'notes', 'many.py'] },
  { name: 'undo', words: ['undo'] },
  { name: 'session, short change', words: ['apply', '-i', 'demo'], until: PROMPT },
  { name: 'session, notebook', words: ['apply', '-i', 'notes'], until: PROMPT },
  { name: 'session, long change with a question', words: LONG, until: PROMPT },
  { name: 'session, scrolled', words: LONG, typed: [[PROMPT, ' ']], until: '↑', rows: 18 },
  {
    name: 'session, alternatives',
    words: ['apply', '-i', '--select', 'ema-detach,register-buffer-ema', 'ways.py'],
    until: PROMPT,
  },
  { name: 'session, help', words: ['apply', '-i', 'demo'], typed: [[PROMPT, '?']], until: 'Ctrl-C' },
  { name: 'session, about the finding', words: LONG, typed: [[PROMPT, 'i']], until: 'symptom' },
  {
    name: 'session, edited',
    words: ['apply', '-i', 'demo'],
    typed: [[PROMPT, 'e']],
    until: 'your replacement',
    env: { EDITOR: "sed -i 's/detach()/item()/'" },
  },
  { name: 'session, yes for good', words: LONG, typed: [[PROMPT, 'Y']], until: '[t]his, [f]ile or [a]ll' },
  {
    name: 'session, suppress',
    words: ['apply', '-i', 'demo'],
    typed: [[PROMPT, 's']],
    until: 'memfix: ignore[',
  },
  {
    name: 'session, end',
    words: ['apply', '-i', '--allow-dirty', 'demo'],
    typed: [
      [PROMPT, 'y'],
      ['2/3', 'n'],
      ['3/3', 'q'],
    ],
  },
  { name: 'out of memory', words: ['--oom', 'demo/oom.log', 'demo'] },
  {
    name: 'out of memory, session',
    words: ['apply', '-i', '--allow-dirty', '--oom', 'demo/oom.log', 'demo'],
    until: PROMPT,
  },
  { name: 'budget', words: ['budget', '7B', '--gpu', 'a100-80gb'] },
  { name: 'budget, to fit', words: ['budget', 'demo/finetune.py', '7B', '--fit', '24GB'] },
  { name: 'budget, patch', words: ['budget', 'demo/finetune.py', '7B', '--fit', '24GB', '--diff'] },
  { name: 'diff', words: ['diff', 'demo'] },
  { name: 'migrate, run', words: ['migrate', 'run', 'campaign'], env: AUTHOR },
  { name: 'migrate, status', words: ['migrate', 'status', 'campaign'] },
  { name: 'error, no such path', words: ['check', 'nowhere'] },
  { name: 'error, misspelt id', words: ['check', '--select', 'no-grda', 'demo'] },
  { name: 'error, wrong option', words: ['check', '--statistic', 'demo'] },
  { name: 'error, config', words: ['check', '--config', 'wrong.toml', 'demo'] },
  { name: 'error, no log', words: ['check', '--oom', 'demo/train.py', 'demo'] },
  { name: 'settings', words: ['config'] },
  { name: 'list', words: ['list'] },
  { name: 'list of all', words: ['list', 'all'] },
  { name: 'explain', words: ['explain', 'no-grad'] },
  { name: 'help', words: ['--help'] },
  { name: 'help of a command', words: ['apply', '--help'] },
];
