import { describe, expect, test } from 'vitest';
import { assumptionsOf } from '../../src/budget/assumptions.js';
import { modelOf } from '../../src/budget/configuration.js';
import { documented } from '../../src/budget/documented.js';
import { budgetOf, type Run } from '../../src/budget/memory.js';
import { countOf, gigabytes, parseBytes, parseCount, parseShare } from '../../src/budget/quantity.js';
import { adapterParameters, LINEARS, shapeFor } from '../../src/budget/shape.js';

function run(changes: Partial<Run> & { parameters: number }): Run {
  return {
    task: 'train',
    attention: 'sdpa',
    padded: false,
    keepsOutputs: false,
    accumulates: false,
    trainable: changes.parameters,
    shape: shapeFor(changes.parameters),
    dtype: 'fp32',
    optimizer: 'adamw',
    masterWeights: false,
    batch: 1,
    sequence: 2048,
    checkpointing: false,
    chunkedLoss: false,
    gpus: 1,
    parallel: 'data',
    offload: 'none',
    given: {},
    ...changes,
  };
}

const LORA = { rank: 16, adapted: LINEARS, dropout: 0 };

const total = (changes: Partial<Run> & { parameters: number }) => gigabytes(budgetOf(run(changes)).total);
const row = (changes: Partial<Run> & { parameters: number }, name: string) => {
  const found = budgetOf(run(changes)).together.find((other) => other.name === name);
  return gigabytes(found?.bytes ?? 0);
};

describe('the documented budget of 13.14B parameters', () => {
  const parameters = 13.14e9;
  const halved = {
    parameters,
    dtype: 'fp16',
    optimizer: 'adamw-8bit',
    given: { activations: 5e9 },
  } as const;

  test('its three totals', () => {
    expect(total({ parameters, given: { activations: 20e9 } })).toBe('230.24 GB');
    expect(total(halved)).toBe('84.25 GB');
    expect(total({ ...halved, offload: 'optimizer' })).toBe('57.56 GB');
  });

  test('its rows', () => {
    const full = { parameters, given: { activations: 20e9 } };
    expect(['weights', 'gradients', 'optimizer', 'activations'].map((name) => row(full, name))).toEqual([
      '52.56 GB',
      '52.56 GB',
      '105.12 GB',
      '20.00 GB',
    ]);
    expect(row(halved, 'optimizer')).toBe('26.69 GB');
  });

  test('the assumptions that are wrong are named', () => {
    const { steps, wrong } = documented('13b');
    expect(steps.map(({ claimed }) => gigabytes(claimed))).toEqual([
      '230.24 GB',
      '83.84 GB',
      '57.56 GB',
      '28.78 GB',
    ]);
    expect(wrong.join('\n')).toMatch(/Mixed precision does not halve weights and gradients/);
    expect(wrong.join('\n')).toMatch(/Two GPUs do not halve the total/);
    expect(assumptionsOf(run(halved)).join('\n')).toMatch(/under autocast both stay fp32/);
  });

  test('two GPUs hold half of it only when it is sharded, and activations never are', () => {
    const two = { ...halved, offload: 'optimizer', gpus: 2 } as const;
    expect(budgetOf(run({ ...two, parallel: 'data' })).total).toBeGreaterThan(57.56e9);
    expect(row({ ...two, parallel: 'sharded' }, 'weights')).toBe('13.14 GB');
    expect(row({ ...two, parallel: 'sharded' }, 'activations')).toBe('5.00 GB');
  });
});

test('the documented budget of the 7B LoRA run: 25 to 20 GB, of which a part is not real', () => {
  const { steps, wrong } = documented('7b-lora');
  expect(steps.map(({ claimed }) => gigabytes(claimed))).toEqual(['25.00 GB', '20.00 GB']);
  const computed = (name: string) =>
    steps.map((step) => gigabytes(step.rows.find((other) => other.name === name)?.computed ?? 0));
  // They follow the trained parameters, not the batch.
  expect(computed('gradients')).toEqual(['0.96 GB', '0.96 GB']);
  expect(computed('optimizer')).toEqual(['1.91 GB', '1.91 GB']);
  expect(computed('weights')).toEqual(['15.28 GB', '15.28 GB']);
  expect(wrong[0]).toMatch(/^Gradients and optimizer state do not shrink with the batch or the sequence/);
});

describe('a run', () => {
  test('of half-precision weights with an fp32 copy takes 16 bytes a parameter', () => {
    const states = {
      parameters: 1e9,
      dtype: 'bf16',
      masterWeights: true,
      given: { activations: 1 },
    } as const;
    expect(total(states)).toBe('16.00 GB');
    expect(total({ ...states, masterWeights: false })).toBe('8.00 GB');
  });

  test('needs one more copy in a step of the default AdamW', () => {
    const budget = budgetOf(run({ parameters: 1e9, given: { activations: 1e9 } }));
    expect(budget.at.name).toBe('step');
    expect(gigabytes(budget.at.parts.temporaries ?? 0)).toBe('4.00 GB');
    const fused = budgetOf(run({ parameters: 1e9, optimizer: 'adamw-fused', given: { activations: 1e9 } }));
    expect(budget.peak - fused.peak).toBeGreaterThan(3e9);
  });

  test('with adapters trains only them, in fp32, and freezes the rest', () => {
    const lora = { parameters: 7e9, dtype: 'int4', lora: LORA, trainable: 40e6 } as const;
    expect(row(lora, 'adapters')).toBe('0.16 GB');
    expect(row(lora, 'gradients')).toBe('0.16 GB');
    expect(row(lora, 'optimizer')).toBe('0.32 GB');
    expect(budgetOf(run(lora)).rows[0]?.bytes).toBeLessThan(4.2e9);
  });

  test('with everything offloaded keeps activations and a few layers, and tells what the host needs', () => {
    const budget = budgetOf(
      run({ parameters: 7e9, dtype: 'bf16', offload: 'all', given: { activations: 2e9 } }),
    );
    expect(budget.rows.filter(({ bytes }) => bytes > 0).map(({ name }) => name)).toEqual([
      'activations',
      'gathered',
      'workspaces',
    ]);
    expect(budget.host / 56e9).toBeCloseTo(1, 1);
  });

  test('on layers spread over GPUs divides activations, but not logits', () => {
    const one = budgetOf(run({ parameters: 7e9 }));
    const four = budgetOf(run({ parameters: 7e9, gpus: 4, parallel: 'model' }));
    const bytes = (budget: typeof one, name: string) =>
      budget.together.find((other) => other.name === name)?.bytes ?? 0;
    expect(bytes(four, 'logits')).toBe(bytes(one, 'logits'));
    expect(bytes(four, 'activations')).toBeLessThan(bytes(one, 'activations') / 3);
  });

  test('with figures of its own is told what they should be', () => {
    const given = { gradients: 2.5e9, optimizer: 1.5e9, activations: 5e9 };
    const said = assumptionsOf(
      run({ parameters: 7e9, dtype: 'fp16', lora: { ...LORA, rank: 128 }, trainable: 239e6, given }),
    );
    expect(said[0]).toBe(
      'Gradients were given as 2.33 GiB; 239M trained × 4 bytes is 0.89 GiB, whatever the batch and the sequence length.',
    );
  });
});

describe('the shape of a model', () => {
  const QWEN = {
    model_type: 'qwen2',
    hidden_size: 3584,
    num_hidden_layers: 28,
    num_attention_heads: 28,
    num_key_value_heads: 4,
    intermediate_size: 18_944,
    vocab_size: 152_064,
    tie_word_embeddings: false,
  };

  test.each<readonly [string, unknown, number]>([
    ['Qwen 2.5 7B', QWEN, 7.615e9],
    [
      'Llama 2 7B',
      {
        model_type: 'llama',
        hidden_size: 4096,
        num_hidden_layers: 32,
        num_attention_heads: 32,
        intermediate_size: 11_008,
        vocab_size: 32_000,
        tie_word_embeddings: false,
      },
      6.738e9,
    ],
    ['GPT-2', { model_type: 'gpt2', n_embd: 768, n_layer: 12, n_head: 12, vocab_size: 50_257 }, 124e6],
    ['a model inside a model', { model_type: 'llava', text_config: QWEN }, 7.615e9],
  ])('of %s', (_, config, expected) => {
    const model = modelOf(config);
    if (typeof model === 'string') throw new Error(model);
    expect(Math.abs(model.parameters / expected - 1)).toBeLessThan(0.01);
  });

  test.each<readonly [unknown, RegExp]>([
    [[], /no object/],
    [{ hidden_size: 8 }, /has no `num_hidden_layers`/],
    [{ num_hidden_layers: 8, hidden_size: '8' }, /has no `hidden_size`/],
    [{ ...QWEN, is_encoder_decoder: true }, /encoder and a decoder/],
  ])('of %j cannot be told', (config, reason) => {
    expect(modelOf(config)).toMatch(reason);
  });

  test('is guessed like published models of that size, and bent to what is known', () => {
    expect(shapeFor(7e9)).toMatchObject({ layers: 32, hidden: 4096, feedForward: 11_008, guessed: true });
    expect(shapeFor(70e9)).toMatchObject({ layers: 80, hidden: 8192, keyHeads: 8 });
    expect(shapeFor(7e9, { layers: 28, hidden: 3584 })).toMatchObject({
      layers: 28,
      hidden: 3584,
      guessed: false,
    });
    expect(shapeFor(1000)).toMatchObject({ layers: 1 });
    expect(shapeFor(13.14e9, { layers: 57 }).hidden).toBe(4352);
  });

  test('says how large adapters on all linear layers are', () => {
    const shape = shapeFor(7e9);
    expect(adapterParameters(shape, 16)).toBe(32 * 16 * (8 * 4096 + 3 * (4096 + 11_008)));
    expect(adapterParameters(shape, 16, ['q', 'v'])).toBe(32 * 16 * 4 * 4096);
  });
});

describe('quantities', () => {
  test.each<readonly [string, number | undefined]>([
    ['7B', 7e9],
    ['13.14b', 13.14e9],
    ['350M', 350e6],
    ['7_000_000_000', 7e9],
    ['1.5e9', 1.5e9],
    ['4k', 4000],
    ['0', undefined],
    ['-7B', undefined],
    ['7 apples', undefined],
    ['', undefined],
  ])('%j parameters', (text, expected) => {
    expect(parseCount(text)).toBe(expected);
  });

  test.each<readonly [string, number | undefined]>([
    ['24GB', 24 * 2 ** 30],
    ['24', 24 * 2 ** 30],
    ['24 GiB', 24 * 2 ** 30],
    ['24576MiB', 24 * 2 ** 30],
    ['0.5g', 0.5 * 2 ** 30],
    ['24QB', undefined],
  ])('%j bytes', (text, expected) => {
    expect(parseBytes(text)).toBe(expected);
  });

  test('a share is a part of the whole', () => {
    expect(parseShare('1.5%', 1e9)).toBe(15e6);
    expect(parseShare('239M', 7e9)).toBe(239e6);
    expect(parseShare('101%', 1e9)).toBeUndefined();
  });

  test('in words', () => {
    expect([13.14e9, 239e6, 7e9, 999, 1.5e12].map(countOf)).toEqual(['13.14B', '239M', '7B', '999', '1.5T']);
  });
});
