import { describe, expect, it, vi } from 'vitest';
import { createEngine, policy } from '../../src/engine/engine.js';
import type { Decide, Outcome, Skipped } from '../../src/engine/outcome.js';
import { loadParser } from '../../src/syntax/parser.js';
import { ask, Proof, type Transform, type TransformMeta } from '../../src/toolkit/index.js';
import { engineOf, fileOf, toy } from '../support/toy.js';

const safe = policy({ unsafe: false });
const unsafe = policy({ unsafe: true });

function outcome(result: Outcome | Skipped): Outcome {
  if (result.kind === 'skipped') throw new Error(`skipped: ${result.reason}`);
  return result;
}

const rename = (id: string, from: string, to: string) =>
  toy(id, from, (edit, node) => void edit.replace(node, to));

describe('repair', () => {
  it('applies independent fixes in one go and says what became of them', async () => {
    const engine = engineOf(rename('ab', 'aaa', 'b'), rename('cd', 'ccc', 'd'));
    const result = outcome(await engine.repair(fileOf('aaa(ccc)\naaa\n'), safe));
    expect(result.after).toBe('b(d)\nb\n');
    expect(result.settled.map(({ finding, fate }) => [finding.transform, finding.at.line, fate])).toEqual([
      ['ab', 1, 'applied'],
      ['cd', 1, 'applied'],
      ['ab', 2, 'applied'],
    ]);
    expect(result.remaining.findings).toEqual([]);
    expect(result.bugs).toEqual([]);
  });

  it('lets a clashing fix wait for the next pass, with its answer', async () => {
    const outer = toy(
      'outer',
      'aaa',
      (edit, _node, statement) => void edit.replaceStatement(statement, ['z(bbb)']),
    );
    const asked: string[] = [];
    const decide: Decide = ({ transform }) => {
      asked.push(transform);
      return { kind: 'apply' };
    };
    const result = outcome(
      await engineOf(outer, rename('inner', 'bbb', 'c')).repair(fileOf('aaa(bbb)\n'), decide),
    );
    expect(result.after).toBe('z(c)\n');
    expect(asked.filter((id) => id === 'outer')).toHaveLength(1);
  });

  it('keeps a no for the second of two equal sites when the first was taken', async () => {
    let first = true;
    const decide: Decide = () => {
      const kind = first ? 'apply' : 'skip';
      first = false;
      return { kind };
    };
    const result = outcome(await engineOf(rename('ab', 'aaa', 'bb')).repair(fileOf('aaa\naaa\n'), decide));
    expect(result.after).toBe('bb\naaa\n');
    expect(result.settled.map(({ fate }) => fate).sort()).toEqual(['applied', 'declined']);
  });

  it('applies what a fix makes possible', async () => {
    const engine = engineOf(rename('ab', 'aaa', 'bbb'), rename('bc', 'bbb', 'ccc'));
    expect(outcome(await engine.repair(fileOf('aaa\n'), safe)).after).toBe('ccc\n');
  });

  it('asks again about what an earlier fix has made safe', async () => {
    const late: Transform = {
      ...rename('late', 'ccc', 'd'),
      fix: (site, edit, module) => {
        edit.replace(site.node, 'd');
        return edit.done(
          'Change ccc',
          new Proof().require(
            module.text.includes('aaa') ? 'unknown' : 'yes',
            ask('none')`Is \`${'aaa'}\` gone?`,
          ),
        );
      },
    };
    const engine = engineOf(late, rename('ab', 'aaa', 'b'));
    const result = outcome(await engine.repair(fileOf('ccc\naaa\n'), safe));
    expect(result.after).toBe('d\nb\n');
    expect(result.settled.map(({ finding, fate }) => [finding.transform, fate])).toEqual([
      ['ab', 'applied'],
      ['late', 'applied'],
    ]);
    expect(outcome(await engine.repair(fileOf('ccc\nccc\n'), () => ({ kind: 'skip' }))).settled).toHaveLength(
      2,
    );
  });

  it('takes the safe way of two at one place, and never the other with its answer', async () => {
    const either: Transform = {
      ...rename('either', 'aaa', 'b'),
      *detect(module) {
        for (const node of module.at('aaa'))
          yield* [
            { node, message: 'risky' },
            { node, message: 'plain' },
          ];
      },
      fix: ({ node, message }, edit) => {
        const isPlain = message === 'plain';
        edit.replace(node, isPlain ? 'plain' : 'risky');
        return edit.done(
          `Write ${message}`,
          new Proof().require(isPlain ? 'yes' : 'unknown', ask('none')`Is \`${'aaa'}\` gone?`),
        );
      },
    };
    const engine = engineOf(either, rename('cd', 'ccc', 'd'));
    for (const text of ['aaa\n', 'aaa\nccc\n']) {
      const result = outcome(await engine.repair(fileOf(text), safe));
      expect(result.after).toBe(text.replace('aaa', 'plain').replace('ccc', 'd'));
      expect(result.settled.map(({ finding: { safety }, fate }) => [safety, fate])).toContainEqual([
        'unsafe',
        'declined',
      ]);
    }
    expect(outcome(await engine.repair(fileOf('aaa\n'), unsafe)).after).toBe('risky\n');
  });

  it('asks once more, and only about what has become safe, where sites have equal words', async () => {
    const late: Transform = {
      ...rename('late', 'ccc', 'd'),
      fix: (site, edit, module) => {
        const line = module.lines.position(site.node.start).line;
        const unknown = line === 3 && module.text.includes('aaa');
        edit.replace(site.node, 'd');
        return edit.done(
          'Change ccc',
          new Proof().require(unknown ? 'unknown' : 'yes', ask('none')`Is \`${'aaa'}\` gone?`),
        );
      },
    };
    const asked: string[] = [];
    const decide: Decide = ({ transform, at, safety }) => {
      asked.push(`${transform}:${at.line} ${safety}`);
      return { kind: transform === 'ab' || at.line === 1 ? 'apply' : 'skip' };
    };
    const result = outcome(
      await engineOf(late, rename('ab', 'aaa', 'b')).repair(fileOf('ccc\n\nccc\n\nccc\naaa\n'), decide),
    );
    expect(asked.sort()).toEqual(['ab:6 safe', 'late:1 safe', 'late:3 safe', 'late:3 unsafe', 'late:5 safe']);
    expect(result.after).toBe('d\n\nccc\n\nccc\nb\n');
    expect(
      result.settled.filter(({ fate }) => fate === 'declined').map(({ finding }) => finding.at.line),
    ).toEqual([5, 3]);
  });

  it('fixes lines in a row that are alike together or not at all', async () => {
    const some = toy('some', 'ccc', (edit, node) => {
      edit.replace(node, 'd');
      const isKnown = node.parent?.type !== 'call';
      return edit.done(
        'Change',
        new Proof().require(isKnown ? 'yes' : 'unknown', ask('plain')`Is \`${'ccc'}\` a plain name?`),
      );
    });
    const after = async (text: string) => outcome(await engineOf(some).repair(fileOf(text), safe)).after;
    expect(await after('ccc\nccc()\nccc\n')).toBe('ccc\nccc()\nccc\n');
    expect(await after('ccc\nccc\n\nccc()\n')).toBe('d\nd\n\nccc()\n');
  });

  it('leaves a file alone whose fixes undo each other, and says so', async () => {
    const engine = engineOf(rename('ab', 'aaa', 'bbb'), rename('ba', 'bbb', 'aaa'));
    const result = outcome(await engine.repair(fileOf('aaa\n'), safe));
    expect(result.after).toBe('aaa\n');
    expect(result.settled).toEqual([]);
    expect(result.bugs).toEqual(['fixes undo each other in train.py']);
  });

  it('leaves a file alone whose fixes never come to rest', async () => {
    const grow = toy(
      'grow',
      'aaa',
      (edit, _node, statement) => void edit.insertStatementBefore(statement, ['pass']),
    );
    const result = outcome(await engineOf(grow).repair(fileOf('aaa\n'), safe));
    expect(result.after).toBe('aaa\n');
    expect(result.bugs).toEqual(['fixes of train.py did not come to rest after 10 passes']);
  });

  it('drops a fix that breaks the file as our bug, and lands the others', async () => {
    const broken = toy('broken', 'aaa', (edit, node) => void edit.replace(node, 'b = ='));
    const result = outcome(
      await engineOf(broken, rename('cd', 'ccc', 'd')).repair(fileOf('aaa(1)\nccc\n'), safe),
    );
    expect(result.after).toBe('aaa(1)\nd\n');
    expect(result.settled.map(({ finding, fate }) => [finding.transform, fate])).toEqual([
      ['broken', 'dropped'],
      ['cd', 'applied'],
    ]);
    expect(result.bugs[0]).toContain('the fix of broken at train.py:1 was dropped');
  });

  it('lets fixes that are sound only one by one wait for each other', async () => {
    const remove = toy('remove', 'aaa', (edit, _, statement) => void edit.removeStatement(statement));
    const engine = engineOf(remove, rename('cd', 'ccc', 'd'));
    const result = outcome(await engine.repair(fileOf('if x:\n    aaa\n    # note\n\n    aaa\nccc\n'), safe));
    // The second finding is left with a reason: nothing else would be in its block.
    expect(result.after).toBe('if x:\n    # note\n\n    aaa\nd\n');
    expect(result.bugs).toEqual([]);
    expect(result.remaining.findings).toMatchObject([{ refusal: expect.stringContaining('empty block') }]);
  });

  it('finds those that break a file among very many', async () => {
    const parser = await loadParser();
    const parse = vi.spyOn(parser, 'parse');
    const broken = toy('broken', 'aaa', (edit, node) => void edit.replace(node, '('));
    const lines = Array.from({ length: 400 }, (_, at) => (at % 150 === 77 ? 'aaa' : 'ccc'));
    const transforms = [broken, rename('cd', 'ccc', 'd')];
    const engine = createEngine({ parser, transforms, knownIds: new Set(), optionsFor: () => ({}) });
    const result = outcome(await engine.repair(fileOf(lines.join('\n')), safe));
    expect(result.after).toBe(lines.join('\n').replaceAll('ccc', 'd'));
    expect(result.bugs).toHaveLength(3);
    expect(parse.mock.calls.length).toBeLessThan(60);
  });

  it('drops a fix that changes how code outside it is read', async () => {
    const comment = toy('comment', 'aaa', (edit, node) => void edit.replace(node, 'b #'));
    const result = outcome(await engineOf(comment).repair(fileOf('x = aaa + 1\n'), safe));
    expect(result.after).toBe('x = aaa + 1\n');
    expect(result.bugs[0]).toContain('code outside the edit would be read differently');
  });

  it('merges the imports of several fixes into one statement, in the right place', async () => {
    const use = (id: string, word: string) =>
      toy(id, word, (edit, node) => void edit.replace(node, edit.name('torch.no_grad', node)));
    const engine = engineOf(use('one', 'aaa'), use('two', 'bbb'));
    const text =
      '#!/usr/bin/env python\n"""Doc."""\nfrom __future__ import annotations\n\nif TYPE_CHECKING:\n    import torch.nn\naaa\nbbb\n';
    expect(outcome(await engine.repair(fileOf(text), safe)).after).toBe(text);
    const plain = text.replace('import torch.nn', 'import numpy');
    expect(outcome(await engine.repair(fileOf(plain), safe)).after).toBe(
      plain
        .replace('annotations\n', 'annotations\nimport torch\n')
        .replace('aaa', 'torch.no_grad')
        .replace('bbb', 'torch.no_grad'),
    );
    expect(outcome(await engine.repair(fileOf('aaa\n'), safe)).after).toBe('import torch\n\ntorch.no_grad\n');
    const future = '"""Doc."""\n"""More."""\nfrom __future__ import annotations; x = [\n]; \\\n  y = 1\n';
    expect(outcome(await engine.repair(fileOf(`${future}aaa\n`), safe)).after).toBe(
      `${future}import torch\ntorch.no_grad\n`,
    );
    expect(outcome(await engine.repair(fileOf('"""Doc."""\naaa'), safe)).after).toBe(
      '"""Doc."""\n\nimport torch\ntorch.no_grad',
    );
  });

  it('takes the very fixes of a scan that was made elsewhere, and looks for more only in the result', async () => {
    const looked: string[] = [];
    const watched = (made: Transform): Transform => ({
      ...made,
      detect(module, options) {
        looked.push(module.text);
        return made.detect(module, options);
      },
    });
    const use = (id: string, word: string) =>
      watched(toy(id, word, (edit, node) => void edit.replace(node, edit.name('torch.no_grad', node))));
    const later = watched(toy('later', 'no_grad', (edit) => edit.refuse('it is there')));
    const engine = engineOf(use('one', 'aaa'), use('two', 'bbb'), later);
    const file = fileOf('aaa\nbbb\n');
    const scan = structuredClone(engine.scan(file));
    if (scan.kind === 'skipped') throw new Error(scan.reason);
    looked.length = 0;
    const result = outcome(await engine.repair(file, safe, scan));
    expect(result.after).toBe('import torch\n\ntorch.no_grad\ntorch.no_grad\n');
    expect(result.settled.map(({ finding }) => finding)).toEqual(scan.findings);
    // Each is asked again about what the other leaves.
    const beside = ['import torch\n\naaa\ntorch.no_grad\n', 'import torch\n\ntorch.no_grad\nbbb\n'];
    expect(looked).toEqual([...beside, result.after]);
    expect(result).toEqual(await engine.repair(file, safe));
  });

  describe('fixes that do not go together', () => {
    const refusing = (id: string, word: string, rival: string, meta: Partial<TransformMeta> = {}) =>
      toy(
        id,
        word,
        (edit, node) => {
          if (node.closest('module')?.text.includes(rival)) return edit.refuse(`\`${rival}\` is there`);
          return void edit.replace(node, `${word}_done`);
        },
        meta,
      );

    it('leaves out the one that objects, with its reason', async () => {
      const engine = engineOf(refusing('one', 'aaa', 'bbb_done'), rename('two', 'bbb', 'bbb_done'));
      const result = outcome(await engine.repair(fileOf('aaa\nbbb\n'), safe));
      expect(result.after).toBe('aaa\nbbb_done\n');
      expect(result.settled.map(({ finding, fate, because }) => [finding.transform, fate, because])).toEqual([
        ['one', 'excluded', '`bbb_done` is there'],
        ['two', 'applied', undefined],
      ]);
    });

    it('of two that object to one another, takes the one that frees memory', async () => {
      const engine = engineOf(
        refusing('one', 'aaa', 'bbb_done', { symptom: 'sync' }),
        refusing('two', 'bbb', 'aaa_done'),
      );
      expect(outcome(await engine.repair(fileOf('aaa\nbbb\n'), safe)).after).toBe('aaa\nbbb_done\n');
    });

    it('leaves the opposite of another fix to a person', async () => {
      const add = toy('add', 'aaa', (edit, node) => void edit.replace(node, 'b'), { yieldsTo: ['drop'] });
      const drop = rename('drop', 'ccc', 'd');
      expect(outcome(await engineOf(add, drop).repair(fileOf('aaa\nccc\n'), safe)).after).toBe('aaa\nd\n');
      expect(outcome(await engineOf(add).repair(fileOf('aaa\nccc\n'), safe)).after).toBe('b\nccc\n');
    });
  });

  it('puts an import in front of a statement inserted at the same place', async () => {
    const clean = toy('clean', 'aaa', (edit, node, statement) => {
      if (statement.previous?.text.includes('empty_cache')) return edit.refuse('it is there');
      edit.insertStatementBefore(statement, [`${edit.name('torch.cuda.empty_cache', node)}()`]);
      return undefined;
    });
    expect(outcome(await engineOf(clean).repair(fileOf('aaa\n'), safe)).after).toBe(
      'import torch\n\ntorch.cuda.empty_cache()\naaa\n',
    );
  });

  it('asks for unsafe fixes only when allowed, and never applies advice', async () => {
    const risky = toy('risky', 'aaa', (edit, node) => {
      edit.replace(node, 'b');
      return edit.done(
        'Change',
        new Proof().require('unknown', ask('known')`Does anybody know \`${'aaa'}\`?`),
      );
    });
    const hint = toy('hint', 'ccc', (edit, node) => void edit.replace(node, 'd'), { safety: 'advice' });
    const engine = engineOf(risky, hint);
    expect(outcome(await engine.repair(fileOf('aaa(ccc)\n'), safe)).after).toBe('aaa(ccc)\n');
    const result = outcome(await engine.repair(fileOf('aaa(ccc)\n'), unsafe));
    expect(result.after).toBe('b(ccc)\n');
    expect(result.settled.find(({ fate }) => fate === 'applied')?.finding.questions).toEqual([
      { kind: 'known', subject: 'aaa', text: 'Does anybody know `aaa`?' },
    ]);
  });

  it('takes a person’s own text for the lines of a fix', async () => {
    const engine = engineOf(rename('ab', 'aaa', 'b'));
    const file = fileOf('x = 1\r\ny = aaa  # note\r\nz = 2\r\n');
    const scan = engine.scan(file);
    const [finding] = scan.kind === 'scan' ? scan.findings : [];
    expect(finding && engine.editableRegion(file, finding)).toEqual({
      span: { start: 7, end: 22 },
      proposed: 'y = b  # note',
    });
    const result = outcome(await engine.repair(file, () => ({ kind: 'edited', text: 'y = mine' })));
    expect(result.after).toBe('x = 1\r\ny = mine\r\nz = 2\r\n');
    expect(result.settled.map(({ fate }) => fate)).toEqual(['edited']);
    const broken = outcome(await engine.repair(file, () => ({ kind: 'edited', text: 'y = (' })));
    expect(broken.after).toBe(file.source.text);
    expect(broken.bugs[0]).toContain('the edited text at train.py:2 was dropped');
  });

  it('suppresses with a comment that then silences exactly that finding', async () => {
    const engine = engineOf(rename('ab', 'aaa', 'b'));
    const file = fileOf('x = aaa  # note\naaa(\n    1,\n)\ny = """\n""" + \\\n    aaa\n');
    const result = outcome(await engine.repair(file, () => ({ kind: 'suppress', reason: 'we need it' })));
    expect(result.after).toBe(
      'x = aaa  # note  # memfix: ignore[ab] we need it\naaa(  # memfix: ignore[ab] we need it\n    1,\n)\ny = """\n""" + \\\n    aaa  # memfix: ignore[ab] we need it\n',
    );
    expect(result.remaining.findings).toEqual([]);
    expect(result.remaining.suppressed).toHaveLength(3);
    expect(result.remaining.notes).toEqual([]);
  });
});
