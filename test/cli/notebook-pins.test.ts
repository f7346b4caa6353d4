import { describe, expect, test } from 'vitest';
import { transforms } from '../../transforms/index.js';
import { folderWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const TRAINS = `from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
model = AutoModelForCausalLM.from_pretrained("gpt2")
args = TrainingArguments(output_dir="out", gradient_checkpointing=True)
Trainer(model=model, args=args).train()
`;

function notebook(...sources: readonly string[]): string {
  const cells = sources.map((source) => ({ cell_type: 'code', metadata: {}, outputs: [], source }));
  return JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 });
}

async function checked(files: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const cwd = folderWith(files);
  const { stdout, stderr } = await memfix({ cwd, transforms }, 'check', '-v', ...args);
  return stdout + stderr;
}

describe('the versions that a notebook installs', () => {
  test.each([
    '!pip install -q transformers==4.30.0 datasets',
    '%pip install "transformers<4.35"',
    'pip install transformers==4.30.0',
    '!pip install \\\n    -q \\\n    transformers==4.30.0',
    '%%bash\n# all we need\npip3 install --upgrade \\\n  transformers==4.30.0',
    '%%capture\n!python -m pip install transformers==4.30.0',
    '!pip install torch && pip install transformers~=4.30.0',
  ])('%j keeps a fix out that needs a newer one', async (cell) => {
    const told = await checked({ 'a.ipynb': notebook(cell, TRAINS) });
    expect(told).toContain('gradient-checkpointing-kwargs  left alone');
    expect(told).toContain('a.ipynb: cell 1');
    expect(told).not.toContain('Nothing pins transformers');
  });

  test('newer ones prove it, and nothing is assumed', async () => {
    const told = await checked({ 'a.ipynb': notebook('!pip install transformers==4.51.0', TRAINS) });
    expect(told).toContain('gradient-checkpointing-kwargs  safe');
    expect(told).not.toContain('Nothing pins');
  });

  test('one that is commented out, or of another package, says nothing', async () => {
    const cell = '# !pip install transformers==4.30.0\n!pip install sentence-transformers==2.2.0';
    const told = await checked({ 'a.ipynb': notebook(cell, TRAINS) });
    expect(told).toContain('gradient-checkpointing-kwargs  safe');
    expect(told).toContain('Nothing pins transformers');
  });

  test('a version that is aimed at wins, and exported notebooks say the same', async () => {
    const pinned = notebook('!pip install transformers==4.30.0', TRAINS);
    const aimed = ['--target-version', 'transformers=4.51'];
    expect(await checked({ 'a.ipynb': pinned }, ...aimed)).toContain('gradient-checkpointing-kwargs  safe');
    for (const command of [
      "get_ipython().system('pip install transformers==4.30.0')",
      "get_ipython().run_line_magic('pip', 'install transformers==4.30.0')",
    ])
      expect(await checked({ 'a.py': `# In[1]:\n\n${command}\n\n${TRAINS}` })).toContain(
        'gradient-checkpointing-kwargs  left alone',
      );
  });
});
