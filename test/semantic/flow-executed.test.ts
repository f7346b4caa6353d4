import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { type Definition, reachingDefinitions } from '../../src/semantic/flow.js';
import { moduleOf, nodeAt } from '../support/module.js';
import { program } from '../support/random-program.js';

/** Runs each program along all its ways, with two rounds of each loop, if that takes no more than so many runs. */
const RUNNER = `
import contextlib, json, sys

class E(Exception): pass
class F(Exception): pass
class G(Exception): pass
class Stop(BaseException): pass

WAYS = 600

def explore(source):
    seen = set()
    way = []
    at = 0
    rounds = {}

    def d():
        nonlocal at
        if at == len(way):
            way.append(False)
        at += 1
        return way[at - 1]

    def t(*_):
        return d()

    def r(site, value):
        seen.add((site, value))
        return d()

    def boom():
        if d():
            raise E() if d() else F() if d() else G()

    def again(loop):
        rounds[loop] = rounds.get(loop, 0) + 1
        if rounds[loop] > 2:
            raise Stop

    def it(value):
        for _ in range(2):
            if not d():
                return
            yield value

    @contextlib.contextmanager
    def cm(value):
        yield value

    names = dict(d=d, t=t, r=r, boom=boom, it=it, cm=cm, again=again, E=E, F=F, G=G, suppress=contextlib.suppress)
    exec(source, names)
    for _ in range(WAYS):
        at = 0
        rounds.clear()
        try:
            names['f'](0)
        except (E, F, G, Stop):
            pass
        del way[at:]
        while way and way[-1]:
            way.pop()
        if not way:
            return dict(seen=sorted(seen), complete=True)
        way[-1] = True
    return dict(seen=sorted(seen), complete=False)

print(json.dumps([explore(source) for source in json.load(sys.stdin)]))
`;

interface Executed {
  readonly seen: readonly (readonly [site: number, value: number])[];
  readonly complete: boolean;
}

function execute(sources: readonly string[]): readonly Executed[] {
  const { stdout, stderr } = spawnSync('python3', ['-c', RUNNER], {
    input: JSON.stringify(sources),
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  expect(stderr).toBe('');
  return JSON.parse(stdout) as readonly Executed[];
}

/** The constant that a definition gives. */
function constantOf(definition: Definition): number {
  if (definition.kind === 'parameter') return 0;
  const from =
    definition.kind === 'loop'
      ? definition.iterable
      : 'value' in definition
        ? definition.value
        : definition.node.closest('match_statement')?.field('subject');
  return Number(/\d{4}/.exec(from?.text ?? '')?.[0]);
}

/** What each read of `x` may see, by the number of the read. */
function computed(source: string): ReadonlyMap<number, ReadonlySet<number>> {
  const module = moduleOf(source);
  const found = new Map<number, ReadonlySet<number>>();
  for (const [text, site] of source.matchAll(/r\((\d+), x\)/g)) {
    const read = nodeAt(module, text).closest('call')?.arguments?.named[1];
    const definitions = read && reachingDefinitions(module, read);
    found.set(Number(site), new Set(definitions?.map(constantOf)));
  }
  return found;
}

describe('reachingDefinitions, against what CPython does', () => {
  const sources = Array.from({ length: 450 }, (_, seed) => program(seed));
  const executed = execute(sources);

  it('leaves out nothing that a read has seen', () => {
    const missed = sources.flatMap((source, at) => {
      const definitions = computed(source);
      return (executed[at]?.seen ?? [])
        .filter(([site, value]) => !definitions.get(site)?.has(value))
        .map(([site, value]) => `r(${site}, x) saw ${value}\n${source}`);
    });
    expect(missed[0]).toBeUndefined();
  });

  it('has nothing that no way leads to', () => {
    let checked = 0;
    const invented = sources.flatMap((source, at) => {
      const { seen, complete } = executed[at] ?? { seen: [], complete: false };
      if (!complete) return [];
      return [...computed(source)].flatMap(([site, values]) => {
        // What is never reached has no exact answer.
        const observed = seen.flatMap(([each, value]) => (each === site ? [value] : []));
        if (observed.length === 0) return [];
        checked++;
        return [...values]
          .filter((value) => !observed.includes(value))
          .map((value) => `r(${site}, x) never saw ${value}\n${source}`);
      });
    });
    expect(invented[0]).toBeUndefined();
    expect(checked).toBeGreaterThan(400);
  });
});
