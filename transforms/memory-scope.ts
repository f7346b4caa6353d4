/**
 *   results = evaluate(model, loader)      @contextlib.contextmanager
 *                                          def memory_efficient_scope(): …
 *
 *                                          with memory_efficient_scope():
 *                                              results = evaluate(model, loader)
 *
 * The documented context manager, written once per file, around the statement of a call that the option `call` names. It
 * only gives the unused cache back: what the call computed is not freed by it, and the peak stays. Refused in loops, where the next step would have to ask the driver for its memory again.
 */
import {
  ask,
  CONTEXT_MANAGER,
  contextManagers,
  EMPTY_CACHE,
  enclosingFunction,
  enclosingWiths,
  isInExpressionScope,
  isTestCode,
  type Options,
  Proof,
  type PyNode,
  repetitionOf,
  type Site,
  statementOf,
  type Transform,
} from '../src/toolkit/index.js';

const SCOPE = 'memory_efficient_scope';
const STATEMENTS = /^(?:expression_statement|return_statement)$/;

interface ScopeSite extends Site {
  readonly statement: PyNode;
}

export const memoryScope: Transform<ScopeSite> = {
  meta: {
    id: 'memory-scope',
    summary: 'Run a chosen call in a context manager that empties the CUDA cache behind it',
    symptom: 'fragmentation',
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'documented',
    options: {
      call: {
        type: 'string',
        default: 'evaluate',
        summary:
          'the call to wrap, as it is written in the code: `evaluate`, `self.validate`, `trainer.evaluate`',
      },
    },
    requires: {},
    docs: {
      why: "Behind an evaluation or a generation, torch's caching allocator keeps the blocks that it used. They serve the next allocation of this process, and are lost to every other process on the GPU.",
      does: 'Defines `memory_efficient_scope` once per file, as documented (`try: yield`, `finally: torch.cuda.empty_cache()`), and puts the statements of the calls that the option `call` names into it.',
      refuses: [
        'the call runs in a loop, or in a function that a loop of the file or a framework calls',
        'the call stands in a lambda or a comprehension, or in the header of another statement',
        'the statement shares its line with other code, or the name `memory_efficient_scope` is taken',
      ],
      limits: [
        'Nothing that is still referenced is freed, and the peak does not change. What ends a leak is `no-grad`, `ema-detach` or `detach-accumulated-loss`; what lowers the peak of an evaluation is `no-grad` and `eval-outputs-to-cpu`.',
        'A call that runs rarely and is followed by another process or by much larger tensors is the one good use. Before a save, `empty-cache-before-save` writes the one line that is needed.',
      ],
    },
    evidence: {
      verdict:
        'Reserved memory only, 2962 to 602 MiB behind an evaluation: the peak is unchanged, and in a loop every pass gets slower. Use `no-grad` for evaluations and `empty-cache-before-save` before saves instead',
      measurements: [],
    },
    origin: [
      {
        document: 'Memory leak solutions (LLM-QAT GPT-2)',
        section: 'Best Practices, 4. Use Context Managers for Cleanup',
        fidelity: 'same',
      },
    ],
    example: 'fix-as-documented',
  },

  skipsTests: true,
  prefilter: ['torch'],
  isIdle: (options) => !/^\w+$/.test(wantedCall(options).name),
  cue: (text, _path, _glimpse, options) => text.includes(`${wantedCall(options).wanted}(`),

  *detect(module, options) {
    const { wanted, name } = wantedCall(options);
    const seen = new Set<PyNode>();
    for (const node of module.at(name)) {
      const call = calledAs(node, wanted);
      if (call === undefined || isScoped(call) || isTestCode(module, call)) continue;
      const statement = statementOf(call);
      if (seen.has(statement)) continue;
      seen.add(statement);
      yield {
        node,
        statement,
        message: `the cache that \`${wanted}()\` filled stays reserved for this process`,
      };
    }
  },

  fix({ node, statement }, edit, module) {
    const repeated = repetitionOf(module, statement);
    const often = 'emptying the cache each time makes the next step allocate anew';
    const proof = new Proof()
      .forbid(!STATEMENTS.test(statement.type), 'it stands in the header of another statement')
      .forbid(isInExpressionScope(node), 'it stands in a lambda or a comprehension')
      .forbid(/\b(?:yield|await)\b/.test(statement.text), 'other code runs before the statement is done')
      .forbid(repeated.kind === 'loop', `it runs in a loop, and ${often}`)
      .forbid(repeated.kind === 'called' || repeated.kind === 'hook', `its function runs often, and ${often}`)
      .require(
        repeated.kind === 'unseen' && repeated.handed !== undefined ? 'unknown' : 'yes',
        ask(
          'called-rarely',
        )`Is \`${enclosingFunction(statement)?.name?.text}\`, which other code gets, called outside of loops everywhere?`,
      );
    if (proof.refuted !== undefined) return edit.refuse(proof.refuted);
    const place = edit.placeForFunction(statement);
    edit.defineFunction(
      SCOPE,
      [
        `@${edit.name(CONTEXT_MANAGER, place)}`,
        `def ${SCOPE}():`,
        '\ttry:',
        '\t\tyield',
        '\tfinally:',
        `\t\t${edit.name(EMPTY_CACHE, place)}()`,
      ],
      statement,
    );
    edit.nestUnder(`with ${SCOPE}()`, statement);
    return edit.done('Empty the CUDA cache behind the call', proof);
  },
};

function wantedCall(options: Options): { readonly wanted: string; readonly name: string } {
  const wanted = String(options['call']).trim();
  return { wanted, name: wanted.split('.').at(-1) ?? '' };
}

/** The call of a name or a dotted name that is written as wanted. */
function calledAs(node: PyNode, wanted: string): PyNode | undefined {
  const callee = node.parent?.type === 'attribute' && node.parent.attribute === node ? node.parent : node;
  const call = callee.parent;
  if (call?.type !== 'call' || call.function !== callee) return undefined;
  return callee.text === wanted ? call : undefined;
}

function isScoped(call: PyNode): boolean {
  return enclosingWiths(call).some((around) =>
    contextManagers(around).some(({ text }) => text.startsWith(`${SCOPE}(`)),
  );
}
