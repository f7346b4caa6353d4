/*
 * x = checkpoint(block, x)                        x = checkpoint(block, x, mask=mask)
 *
 * x = checkpoint(block, x, use_reentrant=False)   x = checkpoint(block, x, mask=mask, use_reentrant=False)
 *
 * The call must be resolved to torch: many projects have a `checkpoint` of their own. Left out, torch warns and takes the
 * re-entrant form, which raises on keyword arguments for the block: there `False` cannot change a working program. Elsewhere
 * it can (a gradient appears where no input required one, a block that recomputes differently raises), so it is unsafe, and
 * today's `True` is offered beside it, which changes nothing; with `value = "preserve"` only that is.
 */
import {
  argumentsOf,
  ask,
  CHECKPOINT,
  CHECKPOINT_SEQUENTIAL,
  callsNamed,
  enclosingWiths,
  isInExpressionScope,
  isTestCode,
  isTestFile,
  keywordArgument,
  keywordValue,
  lacksParameter,
  ownsItsLines,
  Proof,
  type PyModule,
  type PyNode,
  positionalArguments,
  qualifiedName,
  requireOriginal,
  requireUncaught,
  type Site,
  shown,
  statementOf,
  swallowsErrors,
  type Transform,
  usesDeepSpeed,
  valueOf,
} from '../src/toolkit/index.js';
import { checkpointCall } from './checkpoint-use-reentrant/checkpoint-call.js';

const FORM = 'use_reentrant';
/** The ways to get at `torch.utils.checkpoint`, and to call what is in it, by its own name or another. */
const IMPORT =
  /\btorch\s*\.\s*utils\s*(?:\.\s*checkpoint|import|as)\b|\bfrom\s+torch\s+import\s*(?:\([^)]*|.*)\butils\b/;
const CALL =
  /(?<!\w)checkpoint(?:_sequential)?(?:\s*\(|\s+as\b)|=\s*[\w.]*\bcheckpoint(?:_sequential)?\b(?!\s*[.(=])/;
/** What every such call has, and is found fastest. */
const WORD = /\bcheckpoint(?:_sequential)?\b/;
/** Keywords that torch takes itself in both forms, or whose value decides. */
const OF_TORCH: ReadonlySet<string> = new Set([
  'context_fn',
  'debug',
  'determinism_check',
  'early_stop',
  'preserve_rng_state',
]);

interface ReentrantSite extends Site {
  readonly call: PyNode;
  readonly sequential: boolean;
  /** It writes down the form of today, beside the offer of the other one. */
  readonly isAlternative: boolean;
}

export const checkpointUseReentrant: Transform<ReentrantSite> = {
  meta: {
    id: 'checkpoint-use-reentrant',
    summary: 'Pass `use_reentrant` to `torch.utils.checkpoint` explicitly',
    symptom: 'future-break',
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'default',
    options: {
      value: {
        type: 'string',
        default: 'recommended',
        summary: '"recommended" writes `False`; "preserve" writes `True`, which is what happens today',
      },
    },
    requires: { torch: '2.0' },
    docs: {
      why: 'Without `use_reentrant`, torch 2.1 to 2.11 warn on every call, announce that it will raise, and take the re-entrant form. That form gives no gradient where no input of the block requires one, does not support `torch.autograd.grad`, and raises on keyword arguments for the block.',
      does: 'Adds `use_reentrant=False` as the last argument, which torch recommends. Where keyword arguments are passed to the block the call raises today, and the fix is safe unless the file, or a caller in another one, catches that error; elsewhere it is unsafe, and `use_reentrant=True`, the form in use today, is offered beside it, which is safe and ends the warning, except where no input of the block has a graph: today the parameters inside are not trained then. With `value = "preserve"` only that is.',
      refuses: [
        '`checkpoint` is not torch’s own: nothing is said',
        'the arguments are spread with `**`, so the keyword may be given twice',
        'a keyword is passed that the block, a function of the same file, does not take: the call raises in either form',
        'the file replaces `torch.utils.checkpoint.checkpoint` by something else; unsafe where another file of the project does',
        '`False` with DeepSpeed in the code: ZeRO-3 needs the re-entrant form',
        'the call stands in a lambda or a comprehension, or its statement shares its line with other code',
      ],
      limits: [
        'Before torch 2.0 `checkpoint_sequential` does not know the keyword.',
        'Peak memory is the same in both forms; only the warning, the keyword arguments and the missing gradients differ.',
        'A block that saves other tensors when it is recomputed raises in the non-re-entrant form, where the re-entrant one computes a wrong gradient silently.',
        'Tests are not looked at: they may be about the default.',
      ],
    },
    evidence: {
      verdict:
        'Nil on memory; a step is 6 % faster because the recomputation stops early. It removes a warning, and `False` gives gradients where the re-entrant form loses them. torch 2.11 still only warns, whatever the warning says',
      measurements: [],
    },
    origin: [{ document: 'GPU memory audit report (Fourier LS-LoRA)', section: '5', fidelity: 'inspired' }],
    example: 'fix-keyword-for-the-block',
  },

  prefilter: ['checkpoint', 'torch'],
  cue: (text, path) => WORD.test(text) && IMPORT.test(text) && CALL.test(text) && !isTestFile(path, text),

  *detect(module, options) {
    for (const { call, name } of [
      ...callsNamed(module, 'checkpoint'),
      ...callsNamed(module, 'checkpoint_sequential'),
    ]) {
      const found = checkpointCall(module, call);
      if (found === undefined || isChosen(call, found.sequential) || isTestCode(module, call)) continue;
      const raises = keywordsForBlock(call, found.sequential);
      const { sequential } = found;
      const isLost = losesGradients(module, call, sequential);
      yield {
        node: name,
        call,
        sequential,
        isAlternative: false,
        message:
          raises === undefined
            ? isLost
              ? `no input of \`${shown(blockOf(call) ?? call)}\` requires a gradient: in the re-entrant form, which torch takes here today and warns about, its parameters get no gradient at all and are not trained`
              : 'torch warns here and recomputes in the re-entrant form, which loses the gradient where no input of the block requires one'
            : `torch raises here: the re-entrant form, which it takes by default, does not pass \`${raises}\` on`,
      };
      // With these, torch raises in the re-entrant form.
      const isOther = ['context_fn', 'debug'].some((each) => keywordArgument(call, each) !== undefined);
      // Nobody wants to keep a form that trains nothing.
      if (raises === undefined && !isOther && !isLost && options['value'] !== 'preserve')
        yield {
          node: name,
          call,
          sequential,
          isAlternative: true,
          message:
            'torch warns here that the form has to be given, and that it will raise without: today it is the re-entrant one, in which the parameters inside get no gradient unless an input of the block requires one',
        };
    }
  },

  fix({ call, sequential, isAlternative }, edit, module, options) {
    const keyword = keywordsForBlock(call, sequential);
    const raises = keyword !== undefined;
    const block = shown(argumentsOf(call)[0] ?? call);
    const value = isAlternative || (options['value'] === 'preserve' && !raises) ? 'True' : 'False';
    const proof = new Proof()
      .forbid(!ownsItsLines(module, statementOf(call)), 'its statement shares its line with other code')
      .forbid(isInExpressionScope(call), 'it stands in a lambda or a comprehension')
      .forbid(
        argumentsOf(call).some(
          ({ type }) => type === 'dictionary_splat' || (sequential && type === 'list_splat'),
        ),
        'its arguments are spread, so the form may already be among them',
      )
      .forbid(
        raises && isUnknownToBlock(module, call, keyword),
        `the block takes no \`${keyword}\`: the call would raise all the same`,
      )
      .forbid(isReplaced(module), 'this file replaces the `checkpoint` of torch by something else');
    if (value === 'False' && !raises) {
      proof
        .forbid(
          usesDeepSpeed(module) === 'yes',
          'this file uses DeepSpeed, and ZeRO-3 needs the re-entrant form',
        )
        .require(
          'unknown',
          losesGradients(module, call, sequential)
            ? ask(
                'trained-from-now-on',
              )`May the parameters of \`${block}\` be trained from now on, and does it compute the same when it is run again?`
            : isTestedFor(call)
              ? ask('recomputes-alike')`Does \`${block}\` compute the same when it is run again for backward?`
              : ask(
                  'inputs-and-recomputes',
                )`Does an input of \`${block}\` require a gradient today, and does it compute the same when it is run again?`,
        );
    }
    if (raises) {
      proof.require(
        mayBeCaught(call) || isCaughtAround(module, call) ? 'unknown' : 'yes',
        ask(
          'error-unneeded',
        )`Does the code around \`${block}\`, which may catch the error of today, work as well without it?`,
      );
      requireUncaught(proof, module, call, /\b(?:ValueError|Exception|BaseException)\b/, true);
    }
    if (value === 'True' || raises) requireOriginal(proof, module, CHECKPOINT, CHECKPOINT_SEQUENTIAL);
    edit.appendKeyword(call, FORM, value);
    return edit.done(
      value === 'True' ? 'Write down the re-entrant form' : 'Choose the non-re-entrant form',
      proof,
      { numerics: value === 'False' && !raises ? 'changes-training' : 'bit-identical' },
    );
  },
};

/** `if x.requires_grad:` around the call, where `x` is given to the block. */
function isTestedFor(call: PyNode): boolean {
  const given = argumentsOf(call).map(({ text }) => text);
  for (let at: PyNode | undefined = call; at?.parent !== undefined; at = at.parent) {
    const { parent } = at;
    if (parent.type === 'function_definition') return false;
    const isIf = parent.type === 'if_statement' && parent.consequence === at;
    const isArm = parent.type === 'conditional_expression' && parent.named[0] === at;
    const question = isIf ? parent.condition : isArm ? parent.named[1] : undefined;
    const parts = question === undefined ? [] : conjuncts(question);
    if (parts.some(({ text }) => given.some((name) => text === `${name}.requires_grad`))) return true;
  }
  return false;
}

/** The parts of `a and b`. */
function conjuncts(question: PyNode): readonly PyNode[] {
  const inner = question.type === 'parenthesized_expression' ? question.named[0] : question;
  if (inner?.type !== 'boolean_operator' || inner.operator?.type !== 'and') return [inner ?? question];
  return inner.named.flatMap(conjuncts);
}

/** `checkpoint_sequential(functions, segments, input, use_reentrant)` takes it by position as well. */
function isChosen(call: PyNode, sequential: boolean): boolean {
  if (keywordArgument(call, FORM) !== undefined) return true;
  const positional = positionalArguments(call);
  return sequential && positional.length > 3 && !positional.some(({ type }) => type.endsWith('splat'));
}

/** The first keyword that is meant for the block: only the non-re-entrant form passes it on. */
function keywordsForBlock(call: PyNode, sequential: boolean): string | undefined {
  if (sequential) return undefined;
  const names = argumentsOf(call).flatMap((each) =>
    each.type === 'keyword_argument' ? [each.name?.text ?? ''] : [],
  );
  return names.find((name) => !OF_TORCH.has(name) && name !== 'function');
}

function blockOf(call: PyNode): PyNode | undefined {
  return keywordValue(call, 'function') ?? argumentsOf(call)[0];
}

/** All that the block gets is shown to have no graph: the re-entrant form records none then. */
function losesGradients(module: PyModule, call: PyNode, sequential: boolean): boolean {
  const inputs = positionalArguments(call).slice(sequential ? 2 : 1);
  const isPlain = (input: PyNode) => !input.type.endsWith('splat') && !valueOf(module, input).mayHaveGraph();
  return inputs.length > 0 && inputs.every(isPlain);
}

/** The block, a function of this file, has no such parameter: in no form does the call work. */
function isUnknownToBlock(module: PyModule, call: PyNode, keyword: string): boolean {
  const block = blockOf(call);
  return block !== undefined && lacksParameter(module, block, keyword);
}

function mayBeCaught(call: PyNode): boolean {
  const tried = call.closest('try_statement', 'function_definition');
  return tried?.type === 'try_statement' || enclosingWiths(call).some(swallowsErrors);
}

/** Other ways to go on after an error than `except`. */
const SWALLOWS = /\bsuppress\(|\bdef __a?exit__\(|\.submit\(|\.(?:apply|map)_async\(|\bgather\(/;

/** A caller in this file that goes another way after the error. */
function isCaughtAround(module: PyModule, call: PyNode): boolean {
  if (module.mentions(SWALLOWS)) return true;
  const name = call.closest('function_definition')?.name?.text;
  const called = name === 'forward' || name === undefined ? '(' : `${name}(`;
  return module.at('except').some((node) => {
    const tried = node.closest('try_statement');
    const handled = node.closest('except_clause')?.text ?? '';
    return (
      /^except\s*(?:\*\s*)?(?::|[^:\n]*(?:ValueError|Exception))/.test(handled) &&
      (tried?.body?.text ?? '').includes(called)
    );
  });
}

/** By other means than an assignment. */
const REPLACES = /\b(?:setattr|patch|patch\.object)\([^\n]*checkpoint|__dict__\[\s*["']checkpoint/;

/** `torch.utils.checkpoint.checkpoint = partial(…)`: who calls it then, nobody knows. */
function isReplaced(module: PyModule): boolean {
  if (module.mentions(REPLACES)) return true;
  return ['.checkpoint', '.checkpoint_sequential'].some((name) =>
    module.at(name).some(({ parent }) => {
      const assignment = parent?.parent;
      if (assignment?.type !== 'assignment' || assignment.left !== parent) return false;
      const path = parent && qualifiedName(module, parent);
      return path === CHECKPOINT || path === CHECKPOINT_SEQUENTIAL;
    }),
  );
}
