/**
 * Draws every state of the command line, dark and light, at four widths, as pictures for a person to look at:
 * `npm run screens -- <folder> [words of a state's name] [--width 80]`.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../src/dev/project.js';
import { launchChromium } from './support/chromium.js';
import { STATES, type State } from './support/screen-states.js';
import { Terminal } from './support/terminal.js';
import { commit, git, put } from './workspace/folders.js';

const SIZES = [
  { cols: 60, rows: 20 },
  { cols: 80, rows: 24 },
  { cols: 120, rows: 40 },
  { cols: 200, rows: 50 },
] as const;

const require = createRequire(import.meta.url);
const LIBRARY = readFileSync(require.resolve('@xterm/xterm'), 'utf8');
const STYLE = readFileSync(require.resolve('@xterm/xterm/css/xterm.css'), 'utf8');

/** The colours of widespread terminals. */
const THEMES = {
  dark: { background: '#1e1e1e', foreground: '#d4d4d4' },
  light: {
    background: '#ffffff',
    foreground: '#333333',
    black: '#000000',
    white: '#555555',
    yellow: '#949800',
  },
} as const;

/** Rows of a picture, where a command prints more. */
const TALLEST = 110;

interface Shot {
  readonly state: State;
  readonly raw: string;
  readonly cols: number;
  readonly rows: number;
}

/** A repository that outlives this program: the pictures may be of interest, and so may what they are of. */
function repository(): string {
  const made = mkdtempSync(join(tmpdir(), 'memfix-screens-'));
  git(made, 'init', '--quiet', '--initial-branch=main');
  return made;
}

function folder(): string {
  const cwd = repository();
  cpSync(join(root, 'fixtures/_demo'), join(cwd, 'demo'), { recursive: true });
  cpSync(join(root, 'fixtures/register-buffer-ema/fix-projected-mean/input.py'), join(cwd, 'ways.py'));
  const load = (index: number) => `model.load_state_dict(torch.load("runs/${index}.pt"))`;
  const many = `import torch\nfrom torch import nn\n\nmodel = nn.Linear(8, 8)\n${Array.from({ length: 9 }, (_, index) => load(index)).join('\n')}\n`;
  const cells = [
    { cell_type: 'markdown', metadata: {}, source: '# 评估' },
    { cell_type: 'code', metadata: {}, outputs: [], source: many },
  ];
  put(cwd, {
    'many.py': many,
    'notes/02-NLP Tasks/08-a_solution_with_a_long_name/classification_demo.ipynb': JSON.stringify({
      ...{ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 },
    }),
    'wrong.toml': 'selct = ["no-grad"]\n',
  });
  commit(cwd);
  const other = repository();
  put(other, { 'many.py': many });
  commit(other);
  put(cwd, { 'campaign/campaign.toml': `repositories = [${JSON.stringify(other)}]\n` });
  return cwd;
}

async function shotOf(
  state: State,
  cwd: string,
  size: (typeof SIZES)[number],
  stateFolder: string,
): Promise<Shot> {
  const terminal = new Terminal(
    { cwd, ...size, rows: state.rows ?? size.rows, env: { MEMFIX_STATE_DIR: stateFolder, ...state.env } },
    ...state.words,
  );
  try {
    for (const [words, keys] of state.typed ?? []) {
      await terminal.sees(words);
      terminal.type(keys);
    }
    if (state.until === undefined) await terminal.ended();
    else await terminal.sees(state.until);
    // What follows the words that were waited for.
    if (state.until !== undefined) await new Promise((done) => setTimeout(done, 150));
    const { raw } = terminal;
    const rows =
      state.until === undefined
        ? Math.min(TALLEST, Math.max(terminal.lines.length, 3))
        : (state.rows ?? size.rows);
    return { state, raw, cols: size.cols, rows };
  } finally {
    terminal.dispose();
  }
}

function pageOf(shots: readonly Shot[], theme: keyof typeof THEMES): string {
  const { background, foreground } = THEMES[theme];
  return `<!doctype html><meta charset="utf-8"><style>${STYLE}
body { background: ${background}; color: ${foreground}; font: 12px monospace; margin: 8px; columns: auto; }
figure { display: inline-block; vertical-align: top; margin: 6px; border: 1px solid #888; padding: 4px; }
figcaption { color: #888; }</style><body><script>${LIBRARY}</script><script>
window.drawn = Promise.all(${JSON.stringify(shots)}.map(({ state, raw, cols, rows }) => new Promise((done) => {
  const figure = document.body.appendChild(document.createElement('figure'));
  figure.appendChild(document.createElement('figcaption')).textContent = state.name;
  const terminal = new Terminal({ cols, rows, fontSize: 12, fontFamily: 'monospace', theme: ${JSON.stringify(THEMES[theme])}, scrollback: 1000, allowProposedApi: true });
  terminal.open(figure.appendChild(document.createElement('div')));
  terminal.write(raw, () => setTimeout(done, 50));
})));</script>`;
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { width: { type: 'string' } },
});
const [target, ...wanted] = positionals;
if (target === undefined) throw new Error('Say where the pictures go: npm run screens -- <folder>');
mkdirSync(target, { recursive: true });
const states = STATES.filter(({ name }) => wanted.every((word) => name.includes(word)));
const browser = await launchChromium();
try {
  for (const size of SIZES.filter(
    ({ cols }) => values.width === undefined || Number(values.width) === cols,
  )) {
    const cwd = folder();
    const stateFolder = mkdtempSync(join(tmpdir(), 'memfix-screens-'));
    const shots: Shot[] = [];
    for (const state of states) shots.push(await shotOf(state, cwd, size, stateFolder));
    writeFileSync(join(target, `${size.cols}.json`), JSON.stringify(shots));
    for (const theme of ['dark', 'light'] as const) {
      const across = size.cols > 100 ? 1 : 2;
      for (let at = 0; at < shots.length; at += 4 * across) {
        const page = await browser.newPage({
          viewport: { width: across * (size.cols * 7.3 + 60), height: 400 },
        });
        await page.setContent(pageOf(shots.slice(at, at + 4 * across), theme));
        await page.evaluate('window.drawn');
        const name = `${size.cols}-${theme}-${String(at / (4 * across)).padStart(2, '0')}.png`;
        await page.screenshot({ path: join(target, name), fullPage: true });
        await page.close();
      }
    }
  }
} finally {
  await browser.close();
}
