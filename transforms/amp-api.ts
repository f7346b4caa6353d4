/*
 * scaler = torch.cuda.amp.GradScaler(enabled=args.amp)
 * with torch.cuda.amp.autocast(args.amp):
 *
 * scaler = torch.amp.GradScaler("cuda", enabled=args.amp)
 * with torch.amp.autocast("cuda", enabled=args.amp):
 *
 * The old `autocast` takes `enabled` first and is float16 unless told otherwise; the new one takes `dtype` second and
 * inherits the dtype of the region around it. So positional arguments become keywords, and `dtype=torch.float16` is written
 * where such a region cannot be excluded. An import is changed with all that uses it, or not at all.
 */
import type { EditBuilder, PyModule, PyNode, Site, Transform } from '../src/toolkit/index.js';
import {
  AMP_NAMES,
  argumentsOf,
  ask,
  FLOAT16,
  isInExpressionScope,
  isOlderBranch,
  isPrivate,
  isTestCode,
  keywordArgument,
  keywordValue,
  NEW_AMP,
  OLD_AMP,
  ownsItsLines,
  Proof,
  requireOriginal,
  requireVersion,
  statementOf,
  Unfixable,
} from '../src/toolkit/index.js';
import { askerGates, isDtypeSetElsewhere } from './amp-api/amp-askers.js';
import type { AmpImport, AmpUse } from './amp-api/old-amp.js';
import {
  ampGates,
  ampImport,
  dottedAmpUse,
  importedFromHere,
  mayBeInOtherAutocast,
  mayOpenAutocast,
  reachGates,
} from './amp-api/old-amp.js';

interface AmpSite extends Site {
  readonly imported: AmpImport | undefined;
  readonly uses: readonly AmpUse[];
}

const DEVICE = 'cuda';

export const ampApi: Transform<AmpSite> = {
  meta: {
    id: 'amp-api',
    summary: 'Use `torch.amp` with a device instead of the deprecated `torch.cuda.amp`',
    symptom: 'future-break',
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'default',
    options: {},
    requires: { torch: '1.12' },
    docs: {
      why: '`torch.cuda.amp.autocast`, `GradScaler`, `custom_fwd` and `custom_bwd` are deprecated since torch 2.4: each of them warns, and a later release may drop them. They are still there in 2.11.',
      does: 'Writes `torch.amp.autocast("cuda", …)`, `torch.amp.GradScaler("cuda", …)` and `torch.amp.custom_fwd(device_type="cuda")` with the same arguments. Positional arguments of `autocast` become keywords, since their order differs. Except in a program that trains in float16 by hand, `dtype=torch.float16` is written out: the new `autocast` inherits the dtype of a region around it, the old one never did.',
      refuses: [
        'the name is used as a value: subclassed, passed on, compared by `isinstance`',
        'an imported name is bound in another way too, or used in one that cannot be rewritten',
        'the arguments of `autocast` are spread with `*`, or with `**` where a dtype would have to be added',
        'it is the branch for an older torch',
        'the statement shares its line with other code, or the call stands in a lambda',
        'the project keeps torch below 2.4, where nothing is deprecated',
        'unsafe where torch may be older than what is written (2.3 for `GradScaler`, 2.4 for `custom_fwd` and `custom_bwd`), in tests, with TorchScript, and where another file may import the name from this one',
      ],
      limits: [
        'No effect on memory or speed.',
        'On torch before 1.12 there is no `torch.amp.autocast`, before 2.3 no `torch.amp.GradScaler`, before 2.4 no `torch.amp.custom_fwd`.',
        'Annotations keep the old class: the new `GradScaler` is its base.',
      ],
    },
    evidence: {
      verdict: 'Nil on memory: it removes a FutureWarning',
      measurements: [],
    },
    origin: [],
    example: 'fix-training-loop',
  },

  prefilter: ['torch', ['cuda.amp', 'cuda import']],
  cue: (text) => /cuda\.amp\b|\bcuda import\b[^#]*?\bamp\b/.test(text),

  *detect(module) {
    // Nothing is deprecated there.
    if (module.versions.pinBelow('torch', '2.4') !== undefined) return;
    const seen = new Set<PyNode>();
    for (const node of [...module.at('cuda.amp'), ...module.at('cuda import')]) {
      const statement = node.closest('import_from_statement', 'import_statement');
      if (statement !== undefined) {
        if (seen.has(statement)) continue;
        seen.add(statement);
        const imported = ampImport(module, statement);
        const uses = imported?.uses?.filter(({ kind }) => kind !== 'annotation') ?? [];
        if (imported === undefined || (imported.uses !== undefined && uses.length === 0)) continue;
        const names = imported.bound.map(({ text }) => `\`${text}\``).join(', ');
        yield { node: imported.path, imported, uses, message: messageFor(`${names} of \`${OLD_AMP}\``) };
        continue;
      }
      const use = dottedAmpUse(module, node);
      if (use === undefined || (use.kind !== 'call' && !isBareDecorator(use))) continue;
      if (use.node.closest('string') !== undefined) continue;
      const name = use.node.attribute ?? use.node;
      yield {
        node: name,
        imported: undefined,
        uses: [use],
        message: messageFor(`\`${OLD_AMP}.${use.name}\``),
      };
    }
  },

  fix({ imported, uses }, edit, module) {
    const proof = new Proof();
    if (imported !== undefined) {
      proof
        .forbid(imported.uses === undefined, 'what it imports is used in another way than by calling it')
        .forbid(!imported.isOnlyBinding, 'the file binds the same name in another way too')
        .forbid(isOlderBranch(imported.statement), 'it is what an older torch has')
        .require(isPrivate(module, imported.bound), {
          no: 'the name is exported for other files',
          unknown: ask(
            'private-name',
          )`Is \`${imported.bound[0]?.text}\`, which this file imports, used only in it?`,
        });
      proof.meet(...reachGates(module, imported.bound));
      const user = proof.refuted === undefined ? importedFromHere(module, imported.bound) : undefined;
      proof.forbid(user !== undefined, `${user} uses the name that this file imports`);
      edit.replace(
        imported.path,
        imported.path.text.replace(/cuda\s*\.\s*amp|\.\s*cuda$/, (old) => (old.endsWith('amp') ? 'amp' : '')),
      );
    }
    for (const use of uses) {
      const { name, node } = use;
      proof
        .forbid(
          use.kind === 'value' || (use.kind === 'decorator' && !isBareDecorator(use)),
          `\`${name}\` is used as a value`,
        )
        .forbid(isOlderBranch(node), 'it is what an older torch has')
        .forbid(!ownsItsLines(module, statementOf(node)), 'its statement shares its line with other code')
        .forbid(isInExpressionScope(node), 'it stands in a lambda or a comprehension')
        .forbid(node.closest('string') !== undefined, 'it stands in a formatted string');
      requireVersion(
        proof,
        module,
        'torch',
        AMP_NAMES.get(name)?.since ?? '2.4',
        `there is no \`${NEW_AMP}.${name}\``,
      );
      if (proof.refuted !== undefined) break;
      rewrite(use, edit, module, proof, imported === undefined);
    }
    const names = uses.map(({ name }) => name);
    proof.meet(...ampGates(module, names));
    requireOriginal(proof, module, ...names.map((name) => `${OLD_AMP}.${name}`));
    if (uses.some(({ node }) => isTestCode(module, node)))
      proof.require(
        'unknown',
        ask(
          'test-of-other',
        )`Is this test about something other than the old name \`${OLD_AMP}.${names[0]}\`?`,
      );
    if (proof.refuted === undefined) proof.meet(...askerGates(module, uses));
    return edit.done('Name the device in `torch.amp`', proof);
  },
};

function messageFor(what: string): string {
  return what.includes('`, `')
    ? `${what} are deprecated since torch 2.4: they warn, and a later release may drop them`
    : `${what} is deprecated since torch 2.4: it warns, and a later release may drop it`;
}

/** `@custom_fwd` without parentheses. `@autocast` alone would take the function for a flag. */
function isBareDecorator({ kind, name }: AmpUse): boolean {
  return kind === 'decorator' && name.startsWith('custom_');
}

function rewrite(
  { name, node, kind }: AmpUse,
  edit: EditBuilder,
  module: PyModule,
  proof: Proof,
  dotted: boolean,
): void {
  const written = dotted ? edit.name(`${NEW_AMP}.${name}`, node) : undefined;
  if (kind === 'annotation') return;
  if (kind === 'decorator') {
    edit.replace(node, `${written ?? node.text}(device_type=${edit.quoted(DEVICE)})`);
    return;
  }
  const call = node.parent;
  if (call === undefined) return;
  if (written !== undefined) edit.replace(node, written);
  if (name === 'GradScaler') edit.prependArgument(call, edit.quoted(DEVICE));
  else if (name !== 'autocast') edit.appendKeyword(call, 'device_type', edit.quoted(DEVICE));
  else rewriteAutocast(call, edit, module, proof);
}

function rewriteAutocast(call: PyNode, edit: EditBuilder, module: PyModule, proof: Proof): void {
  if (call.arguments?.type !== 'argument_list') throw new Unfixable('its only argument is a bare generator');
  const device = edit.quoted(DEVICE);
  const given = argumentsOf(call);
  const names = AMP_NAMES.get('autocast')?.positional ?? [];
  const positional = given.filter(({ type }) => type !== 'keyword_argument' && type !== 'dictionary_splat');
  const isOff = (keywordValue(call, 'enabled') ?? positional[0])?.text === 'False';
  const hasDtype = keywordArgument(call, 'dtype') !== undefined || positional.length > 1;
  const isQuiet = isOff && !mayOpenAutocast(module, call);
  const needsDtype =
    !hasDtype && !isQuiet && (mayBeInOtherAutocast(module, call) || isDtypeSetElsewhere(module, call));
  proof
    .forbid(
      positional.some(({ type }) => type === 'list_splat'),
      'its arguments are spread, and their order differs',
    )
    .forbid(
      needsDtype && given.some(({ type }) => type === 'dictionary_splat'),
      'its arguments are spread, and the dtype may be among them',
    );
  if (proof.refuted !== undefined) return;
  const dtype = needsDtype ? edit.name(FLOAT16, call) : undefined;
  for (const [index, argument] of positional.entries()) {
    const last = argument === given.at(-1) && dtype !== undefined ? `, dtype=${dtype}` : '';
    const value = argument.type === 'named_expression' ? `(${argument.text})` : argument.text;
    edit.replace(argument, `${index === 0 ? `${device}, ` : ''}${names[index]}=${value}${last}`);
  }
  if (positional.length === 0) {
    const both = given.length === 0 && dtype !== undefined;
    edit.prependArgument(call, both ? `${device}, dtype=${dtype}` : device);
  }
  if (dtype !== undefined && given.at(-1)?.type === 'keyword_argument')
    edit.appendKeyword(call, 'dtype', dtype);
}
