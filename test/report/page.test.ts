import { describe, expect, test } from 'vitest';
import { catalogueMarkdown, renderCatalogue } from '../../src/report/catalogue.js';
import { terminalPage } from '../../src/report/explain.js';
import { exampleDiff, markdownPage } from '../../src/report/page.js';
import { inColor, noColor } from '../../src/report/paint.js';
import { forTerminal } from '../../src/report/terminal.js';
import { EXAMPLE, META, OTHERS } from './sample-meta.js';

const ALL = [META, ...OTHERS];
const withoutColor = (text: string) => text.replace(/\x1b\[[\d;]*m/g, '');

describe('the markdown page of a transform', () => {
  test('has all its parts in order', () => {
    expect(markdownPage(META, EXAMPLE)).toBe(`\
<!-- Generated from transforms/register-buffer-ema.ts; edit that file instead. -->

# register-buffer-ema

Keep a running average in a buffer and update it in place, outside the graph

| effect | symptom | safety | numerics | group | requires |
|---|---|---|---|---|---|
| frees memory | leak | safe | bit-identical | default | torch ≥ 1.6 |

Options, under \`[tool.memfix.transforms.register-buffer-ema]\`:

| option | type | default | meaning |
|---|---|---|---|
| \`persistent\` | boolean | \`false\` | Save the buffer in the checkpoint; old checkpoints then lack it |

> **Measured:** Stops a growth of 1.1 MiB a step; nil where the value was already detached.

## Why

The attribute holds the last step's graph, which holds the one before: memory grows with every step.

Two ways lead there:

- a blend of the old value and a loss
- a blend of the old value and an activation
  that was not detached

## What it does

The attribute becomes a buffer; the blend becomes \`mul_().add_()\`:

\`\`\`python
self.mean.mul_(0.9).add_(x, alpha=0.1)
\`\`\`

## Example

\`\`\`diff
 class Norm(nn.Module):
     def __init__(self):
-        self.mean = torch.zeros(1)
+        self.register_buffer('mean', torch.zeros(1), persistent=False)

     def forward(self, x):
-        self.mean = 0.9 * self.mean + 0.1 * x.mean()
+        with torch.no_grad():
+            self.mean.mul_(0.9).add_(0.1 * x.mean())
         return x
\`\`\`

## When it leaves code alone

- the attribute is read in the graph
- the shape of the new value is unknown, a|b

## Limits

- Buffers made in other files are not seen.

## Evidence

| measured | before | after | set-up |
|---|---|---|---|
| allocated after 200 steps | 241 MiB | 19 MiB | torch 2.4 on one CPU, a two-layer model |

## Origin

- Memory notes, section 2: the same fix

## Suppress it

On the line of the finding, or once for a whole file:

\`\`\`python
# memfix: ignore[register-buffer-ema] reason
# memfix: file-ignore[register-buffer-ema]
\`\`\`
`);
  });

  test('leaves out what a transform does not have', () => {
    const bare = { ...META, options: {}, requires: {}, docs: { ...META.docs, limits: [] } };
    const page = markdownPage({ ...bare, evidence: { verdict: 'Unknown.', measurements: [] } }, EXAMPLE);
    expect(page.match(/^## .*/gm)).toEqual([
      '## Why',
      '## What it does',
      '## Example',
      '## When it leaves code alone',
      '## Origin',
      '## Suppress it',
    ]);
    expect(page).toContain(
      '| leak | safe | bit-identical | default | nothing |\n\n> **Not measured on a GPU:** Unknown.\n',
    );
  });

  test('advice without a diff shows the code it speaks of', () => {
    const example = { before: 'def f():\r\n\r\n    debug()\r\n', after: 'def f():\r\n\r\n    debug()\r\n' };
    expect(markdownPage(META, example)).toContain('## Example\n\n```python\ndef f():\n\n    debug()\n```\n');
    expect(terminalPage(META, example, { paint: noColor, width: 80 })).toContain(
      'Example\n  def f():\n\n      debug()\n\n',
    );
    expect(markdownPage(META, { before: '', after: '' })).not.toContain('## Example');
  });

  test('a pipe in a table and a fence in an example stay what they are', () => {
    const measured = { what: 'a|b', before: '1', after: '2', setup: 's' };
    const page = markdownPage(
      { ...META, evidence: { verdict: 'v', measurements: [measured] } },
      { before: 'x = """\n```\n"""\n', after: 'y = """\n```\n"""\n' },
    );
    expect(page).toContain('| a\\|b | 1 | 2 | s |');
    expect(page).toContain('````diff\n-x = """\n+y = """\n ```\n """\n````\n');
  });

  test('a long example shows its changes only, with their places', () => {
    const lines = Array.from({ length: 60 }, (_, index) => `v${index} = 0\n`);
    const before = lines.join('');
    const diff = exampleDiff({
      before,
      after: before.replace('v1 = 0', 'v1 = 1').replace('v58 = 0', 'v58 = 1'),
    });
    expect(diff.match(/^@@.*/gm)).toEqual(['@@ -1,14 +1,14 @@', '@@ -47,14 +47,14 @@']);
  });
});

describe('the terminal page of a transform', () => {
  test('in 60 columns', () => {
    expect(terminalPage(META, EXAMPLE, { paint: noColor, width: 60 })).toBe(`\
register-buffer-ema
Keep a running average in a buffer and update it in place,
outside the graph

  effect    frees memory
  symptom   leak
  safety    safe
  numerics  bit-identical
  group     default
  requires  torch ≥ 1.6

Measured
  Stops a growth of 1.1 MiB a step; nil where the value was
  already detached.

Why
  The attribute holds the last step's graph, which holds the
  one before: memory grows with every step.

  Two ways lead there:

  • a blend of the old value and a loss
  • a blend of the old value and an activation that was not
    detached

What it does
  The attribute becomes a buffer; the blend becomes
  \`mul_().add_()\`:

    self.mean.mul_(0.9).add_(x, alpha=0.1)

Example
   class Norm(nn.Module):
       def __init__(self):
  -        self.mean = torch.zeros(1)
  +        self.register_buffer('mean', torch.zeros(1), persistent=False)

       def forward(self, x):
  -        self.mean = 0.9 * self.mean + 0.1 * x.mean()
  +        with torch.no_grad():
  +            self.mean.mul_(0.9).add_(0.1 * x.mean())
           return x

When it leaves code alone
  • the attribute is read in the graph
  • the shape of the new value is unknown, a|b

Limits
  • Buffers made in other files are not seen.

Options
  persistent = false
    Save the buffer in the checkpoint; old checkpoints then
    lack it

  In pyproject.toml:
    [tool.memfix.transforms.register-buffer-ema]
    persistent = false

Evidence
  • allocated after 200 steps: 241 MiB → 19 MiB
    torch 2.4 on one CPU, a two-layer model

Origin
  • Memory notes, section 2: the same fix

Suppress it
  On the line of the finding, or once for a whole file:

    # memfix: ignore[register-buffer-ema] reason
    # memfix: file-ignore[register-buffer-ema]
`);
  });

  test('of a documented fix leads with the verdict, and with what to use instead', () => {
    const evidence = { verdict: 'No effect; use `no-grad` or `ema-detach`.', measurements: [] };
    const told = { ...META, group: 'documented', evidence, aliases: ['old-ema'] } as const;
    const page = terminalPage(told, EXAMPLE, { paint: noColor, width: 60 });
    expect(
      page.startsWith(`\
register-buffer-ema
No effect; use \`no-grad\` or \`ema-detach\`.
Use instead: no-grad (memfix explain no-grad)
Use instead: ema-detach (memfix explain ema-detach)

Keep a running average in a buffer and update it in place,
`),
    ).toBe(true);
    expect(page).not.toContain('\nMeasured\n');
    expect(page).toContain('\n  also      old-ema\n');
    expect(markdownPage(told, EXAMPLE)).toContain(
      '# register-buffer-ema\n\n> **Not measured on a GPU:** No effect; use `no-grad` or `ema-detach`.\n\n' +
        'Use instead: [`no-grad`](no-grad.md), [`ema-detach`](ema-detach.md)\n\nKeep a running average',
    );
  });

  test('text stops widening where it gets hard to read', () => {
    const wide = terminalPage(META, EXAMPLE, { paint: noColor, width: 200 });
    expect(wide).toBe(terminalPage(META, EXAMPLE, { paint: noColor, width: 80 }));
    expect(wide).toContain(
      "\n  The attribute holds the last step's graph, which holds the one before: memory\n",
    );
  });

  test('colour changes nothing but colour', () => {
    const painted = forTerminal(terminalPage(META, EXAMPLE, { paint: inColor, width: 60 }));
    expect(painted.startsWith('\x1b[1mregister-buffer-ema\x1b[22m\n')).toBe(true);
    expect(withoutColor(painted)).toBe(terminalPage(META, EXAMPLE, { paint: noColor, width: 60 }));
  });
});

test('what is to be read on a terminal page has the colour of the terminal: others are hard to read on white or on black', () => {
  const told = {
    verdict: 'No effect was seen: the steps are the same',
    measurements: [{ what: 'a', before: '1', after: '2', setup: 'one small network, 100 steps' }],
  };
  for (const meta of [
    META,
    { ...META, evidence: told },
    { ...META, group: 'documented', evidence: told } as const,
  ]) {
    const painted = forTerminal(terminalPage(meta, { before: '', after: '' }, { paint: inColor, width: 60 }));
    const coloured = [...painted.matchAll(/\x1b\[(?:2|3\d|9\d)m(.*?)\x1b\[(?:22|39)m/gs)].map(
      ([, text = '']) => text,
    );
    expect(coloured).toEqual([meta.safety]);
  }
});

describe('the catalogue', () => {
  test('in 60 columns', () => {
    expect(renderCatalogue(ALL, { paint: noColor, width: 60, verbose: true })).toBe(`\
default (1): on unless you say otherwise
register-buffer-ema  safe · bit-identical · leak
  Keep a running average in a buffer and update it in place,
  outside the graph
  measured: Stops a growth of 1.1 MiB a step

opt-in (1): real effects that change training, checkpoints
  or needs: name them with \`--select\`
gradient-checkpointing-kwargs
  unsafe · changes-training · future-break
  Say \`use_reentrant=False\` beside
  \`gradient_checkpointing=True\`
  not measured on a GPU: Silences a warning

documented (1): as documents recommend them, without the
  effect that they claim: name them with \`--select\`
no-grad  advice · bit-identical · peak
  Run evaluation without recording gradients
  measured: Stops a growth of 1.1 MiB a step
`);
  });

  test('as a table where there is room', () => {
    expect(renderCatalogue(ALL, { paint: noColor, width: 140, verbose: true })).toBe(`\
default (1): on unless you say otherwise
transform                      safety  numerics          symptom       what it does, and what was measured
register-buffer-ema            safe    bit-identical     leak          Keep a running average in a buffer and update it in place, outside
                                                                       the graph
                                                                       measured: Stops a growth of 1.1 MiB a step

opt-in (1): real effects that change training, checkpoints or needs: name them with \`--select\`
transform                      safety  numerics          symptom       what it does, and what was measured
gradient-checkpointing-kwargs  unsafe  changes-training  future-break  Say \`use_reentrant=False\` beside \`gradient_checkpointing=True\`
                                                                       not measured on a GPU: Silences a warning

documented (1): as documents recommend them, without the effect that they claim: name them with \`--select\`
transform                      safety  numerics          symptom       what it does, and what was measured
no-grad                        advice  bit-identical     peak          Run evaluation without recording gradients
                                                                       measured: Stops a growth of 1.1 MiB a step
`);
  });

  test('is short without what was measured', () => {
    const short = renderCatalogue(ALL, { paint: noColor, width: 60, verbose: false });
    const long = renderCatalogue(ALL, { paint: noColor, width: 60, verbose: true });
    expect(short).toBe(long.replace(/^ {2}(?:not )?measured.*\n/gm, ''));
  });

  test('sixty transforms stay within the width, whatever it is', () => {
    const many = Array.from({ length: 60 }, (_, index) => ({ ...META, id: `${META.id}-${index}` }));
    for (const width of [40, 60, 80, 100, 120, 160, 240]) {
      const lines = renderCatalogue(many, { paint: noColor, width, verbose: true }).split('\n');
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
      expect(lines.some((line) => / $/.test(line))).toBe(false);
    }
  });

  test('colour does not move columns', () => {
    for (const width of [60, 80, 140]) {
      const painted = forTerminal(renderCatalogue(ALL, { paint: inColor, width, verbose: true }));
      expect(withoutColor(painted)).toBe(renderCatalogue(ALL, { paint: noColor, width, verbose: true }));
    }
  });

  test('in the README', () => {
    expect(catalogueMarkdown(ALL)).toBe(`\
**default**: on unless you say otherwise

| transform | what it does | effect | symptom | safety | numerics |
|---|---|---|---|---|---|
| [\`register-buffer-ema\`](transforms/register-buffer-ema.md) | Keep a running average in a buffer and update it in place, outside the graph | frees memory | leak | safe | bit-identical |

**opt-in**: real effects that change training, checkpoints or needs: name them with \`--select\`

| transform | what it does | effect | symptom | safety | numerics |
|---|---|---|---|---|---|
| [\`gradient-checkpointing-kwargs\`](transforms/gradient-checkpointing-kwargs.md) | Say \`use_reentrant=False\` beside \`gradient_checkpointing=True\` | future-proof | future-break | unsafe | changes-training |

**documented**: as documents recommend them, without the effect that they claim: name them with \`--select\`

| transform | what it does | effect | symptom | safety | numerics |
|---|---|---|---|---|---|
| [\`no-grad\`](transforms/no-grad.md) | Run evaluation without recording gradients | frees memory | peak | advice | bit-identical |`);
  });

  test('of nothing is empty', () => {
    expect(renderCatalogue([], { paint: noColor, width: 80, verbose: true })).toBe('');
  });
});
