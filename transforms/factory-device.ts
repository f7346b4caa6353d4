/*
 * mask = torch.zeros(n, dtype=torch.bool).to(x.device)
 *
 * mask = torch.zeros(n, dtype=torch.bool, device=x.device)
 *
 * The maker must be torch's own and fill the tensor with the same numbers on every device: zeros, ones, full, eye, empty,
 * arange, linspace. Random ones never: a GPU draws other numbers. `torch.tensor` neither: its data are copied from the host
 * either way, with as many synchronisations. The argument of `.to()` must be a device. A cast in between becomes `dtype=`
 * where zeros or ones are cast; other casts and reshapes stay where they are. A leaf that requires grad is left alone, since the rewrite would move the leaf itself.
 */
import type { PyModule, PyNode, Site, Transform } from '../src/toolkit/index.js';
import {
  argumentsOf,
  ask,
  behindBracket,
  busyProperty,
  calledPath,
  hasSplat,
  isCertainDevice,
  isExact,
  isTestCode,
  isTraced,
  keywordArgument,
  keywordValue,
  methodName,
  methodsBehind,
  Proof,
  receiverOf,
  requireOriginal,
  row,
  shown,
  valueOf,
} from '../src/toolkit/index.js';
import { castIn } from './factory-device/factory-cast.js';
import {
  cutsAlike,
  isEmpty,
  isExactOnAnyDevice,
  isFilled,
  roundsAlike,
} from './factory-device/factory-numbers.js';
import {
  isMainCode,
  isSnapshot,
  isTooLong,
  isUnused,
  longestLine,
  runsOnce,
  tryAround,
} from './factory-device/factory-place.js';
import { givenInstead } from './factory-device/given-instead.js';

interface FactorySite extends Site {
  /** `torch.zeros(n)` */
  readonly factory: PyNode;
  readonly path: string;
  /** `torch.zeros(n).long()`: what the move is called on. */
  readonly moved: PyNode;
  /** `torch.zeros(n).long().to(d)` */
  readonly whole: PyNode;
  /** Undefined for `.cuda()`. */
  readonly device: PyNode | undefined;
}

/** Names of what is a device or its number, most of the time; other names are nearly always a tensor to be like. */
const GPU_NAME = /(?:^|[._])(?:cuda|dev|gpu|gpu_id|rank|device_id)$/;
/** Arguments that mean the same beside `device=`. */
const PORTABLE: ReadonlySet<string> = new Set(
  'dtype end fill_value m n requires_grad size start step steps'.split(' '),
);

export const factoryDevice: Transform<FactorySite> = {
  meta: {
    id: 'factory-device',
    summary: 'Create constant tensors on their device instead of moving them there',
    symptom: 'sync',
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'default',
    options: {
      everywhere: {
        type: 'boolean',
        default: false,
        whenNamed: true,
        summary:
          'also in code that runs once, where one wait less is not worth a commit; on where the transform is named',
      },
    },
    requires: { torch: '0.4' },
    docs: {
      why: '`torch.zeros(n).to(device)` fills memory on the host, copies it to the GPU and makes the host wait for the copy. `torch.zeros(n, device=device)` is one kernel on the GPU: no host memory, no copy, no wait.',
      does: 'Moves the device of `.to(device)`, or of `.cuda()`, into the call of `zeros`, `ones`, `full`, `eye`, `empty`, `arange` or `linspace`. A cast between the two of zeros, ones or an identity becomes `dtype=`; reshapes, `repeat` and other casts stay. By default only where the code may run again: one wait less in a script or a constructor is not worth a commit. Named, everywhere.',
      refuses: [
        'the maker is random (`rand`, `randn`, `randperm`, …): the GPU has a generator of its own, so the numbers would change',
        'the tensor is made with `requires_grad=True`: the leaf, which gets the gradient, would be another tensor',
        'a keyword is given that does not go with another device, such as `out=` or `pin_memory=`, or the keywords are spread with `**`',
        'a comment stands between the call and `.to()`',
        'by default, its line would be longer than the lines of its file',
        'unsafe in a `try`, whose handler may wait for the error that a move out of `torch.device("meta")` raises, and where the device is a property that does more than look',
        'a size is 0: nothing is copied',
        'the maker is `empty`: unsafe, since what is left in memory differs between host and device, where somebody reads it',
        'the tensor is cast before it is moved and not filled with zeros, ones or an identity, or a range is made in half precision or in a dtype that is not written there: unsafe, since the device then holds the uncast tensor (256 → 1280 MiB for a boolean mask of 16384 × 16384 on an H200) and may round otherwise',
        '`arange` with a fractional start or step, and `linspace`: unsafe, since a GPU computes them in other precision (on an H200 the last bit of 1630 of the 2000 numbers of `arange(-1, 1, 0.001)` is another)',
        '`linspace` makes whole numbers: unsafe, since the host computes them in double and a GPU in single precision before it cuts them off (on an H200 one number of `linspace(0, 7, 50, dtype=torch.long)` is another)',
      ],
      limits: [
        '`.to()` with a dtype, a tensor or `copy` is not edited, nor is `.cuda(index)` with what may be `None`: with `None` it means the current GPU, while `device=None` means the CPU.',
        '`torch.tensor(data).to(device)` is not edited: `torch.tensor(data, device=device)` copies and waits just the same.',
        'A module that other code traces with torch.fx gets a device that is no device yet, which makers of tensors do not take.',
        'GPU memory stays the same: this saves time and host memory.',
        'Code below `if __name__ == "__main__":` and copies of the code beside the results of a run (`wandb/run-…`, `outputs/2024-…/`) are not looked at, nor are tensors that nothing reads.',
      ],
    },
    evidence: {
      verdict:
        'No GPU memory; one copy and one synchronisation less per tensor: 0.76 ms instead of 12.3 ms for 64 of them',
      measurements: [],
    },
    origin: [
      {
        document: 'GPU memory audit report (Fourier LS-LoRA)',
        section: '3. CPU tensor recreation in regularization',
        fidelity: 'inspired',
      },
    ],
    example: 'fix-mask-in-forward',
  },

  skipsTests: true,
  prefilter: [
    ['.to(', '.cuda('],
    ['zeros(', 'ones(', 'full(', 'eye(', 'empty(', 'arange(', 'linspace(', 'rand'],
  ],
  cue: (_text, path, glimpse) =>
    !isSnapshot(path) && glimpse.stretchesWith('.to(', '.cuda(').some(mayMoveFactory),

  *detect(module, options) {
    if (isSnapshot(module.path)) return;
    for (const node of ['.to(', '.cuda('].flatMap((literal) => module.atWhere(literal, mayMoveFactory))) {
      const whole = node.parent?.parent;
      const moved = whole?.type === 'call' ? receiverOf(whole) : undefined;
      if (whole === undefined || moved?.type !== 'call' || node.parent?.attribute !== node) continue;
      const found = factoryIn(module, moved);
      if (found === undefined || whole.closest('string') !== undefined || isTestCode(module, whole)) continue;
      if (isEmpty(found.path, found.factory)) continue;
      const device = deviceOf(module, whole);
      if (device === 'none' || keywordArgument(found.factory, 'device') !== undefined) continue;
      if (isMainCode(whole) || (options['everywhere'] !== true && runsOnce(module, whole))) continue;
      if (isUnused(module, whole)) continue;
      // A line that ends in `.to(` has no place for an ignore comment.
      const shown = whole.arguments?.text.includes('\n') ? found.factory.function : node;
      yield {
        node: shown ?? node,
        ...found,
        moved,
        whole,
        device,
        message: 'the tensor is filled on the host and copied to the device, and the host waits for the copy',
      };
    }
  },

  fix({ factory, path, moved, whole, device }, edit, module, options) {
    if (row(path)?.random)
      return edit.refuse('random numbers drawn on the device are not those drawn on the host');
    const keywords = argumentsOf(factory).flatMap((node) =>
      node.type === 'keyword_argument' ? (node.name?.text ?? []) : [],
    );
    const strange = keywords.find((name) => !PORTABLE.has(name));
    const cast = castIn(module, path, factory, moved);
    const folded = cast?.dtype;
    const busy = device && busyProperty(module, device);
    const leaf = keywordValue(factory, 'requires_grad');
    const made = shown(factory);
    const isExactRange = isExactOnAnyDevice(module, factory, path);
    const proof = new Proof()
      .forbid(
        hasSplat(factory) && argumentsOf(factory).some(({ type }) => type === 'dictionary_splat'),
        'its keywords are spread, and the device may be among them',
      )
      .forbid(strange !== undefined, `\`${strange}=\` may not go with another device`)
      .forbid(
        leaf !== undefined && leaf.type !== 'false',
        'it requires grad, and the leaf that gets the gradient would be another tensor',
      )
      .require(device === undefined ? 'yes' : valueOf(module, device).isDevice, {
        no: `\`${device?.text}\` is no device`,
        unknown: ask('is-device')`Is \`${device?.text}\` a device?`,
      })
      .require(
        cast === undefined || folded !== undefined ? 'yes' : 'unknown',
        ask(
          'room-to-cast',
        )`Does the device have room for the tensor before \`.${cast?.name}()\`, and cast its numbers alike?`,
      )
      .require(
        tryAround(whole) === undefined ? 'yes' : 'unknown',
        ask(
          'error-unneeded',
        )`Does the \`try\` around \`${made}\` work as well without the error of a move out of \`torch.device("meta")\`?`,
      )
      .require(
        busy === undefined ? 'yes' : 'unknown',
        ask('plain-property')`Does ${busy} leave all that the tensor is made by as it is?`,
      )
      .require(
        roundsAlike(path, factory),
        ask('rounds-alike')`Does the device round \`${made}\` to half precision as the host does?`,
      )
      .require(
        cutsAlike(path, factory),
        ask('cuts-alike')`Does the device cut \`${made}\` off to the same whole numbers as the host?`,
      )
      .require(
        isExactRange ? 'yes' : 'unknown',
        ask('last-bit')`May the last bits of \`${made}\` change (a GPU computes them in other precision)?`,
      )
      .require(
        isFilled(path, moved) ? 'yes' : 'unknown',
        ask(
          'written-first',
        )`Is every element of \`${made}\` written before it is read (what is left in memory differs between host and device)?`,
      )
      .require(
        isTraced(module) ? 'unknown' : 'yes',
        ask('traced')`Do TorchScript and torch.fx, which this file uses, take \`${made}\` with a device?`,
      );
    requireOriginal(proof, module, path);
    const other = device && proof.refuted === undefined ? givenInstead(module, device) : undefined;
    if (other !== undefined)
      proof.require(
        'unknown',
        ask('is-device')`Is \`${device?.text}\` a device, where \`${shown(other.node)}\` is given for it?`,
      );
    const target = device?.text ?? edit.quoted(cudaDevice(whole));
    const dtype = folded && edit.name(path.replace(/\w+$/, folded), factory);
    const added = [...(dtype === undefined ? [] : [['dtype', dtype] as const]), ['device', target] as const];
    const uncast = cast !== undefined && dtype !== undefined ? receiverOf(cast.call) : undefined;
    const without = [[whole, moved] as const, ...(cast && uncast ? [[cast.call, uncast] as const] : [])];
    if (options['everywhere'] !== true && isTooLong(module, whole, added, without))
      return edit.refuse(
        `its line would be longer than ${longestLine(module)} characters, which no line of this file is`,
      );
    edit.appendKeywords(factory, added);
    edit.keepOnly(whole, moved);
    if (cast !== undefined && uncast !== undefined) edit.keepOnly(cast.call, uncast);
    return edit.done('Create the tensor on its device', proof, {
      numerics: isExactRange ? 'bit-identical' : 'rounding',
    });
  },
};

const FACTORY_CALL =
  /\b(?:zeros|ones|full|eye|empty|arange|linspace|rand|randint|randn|randperm|normal|bernoulli|multinomial)[ \t]*\(/g;

/** Whether the result of a factory that names no device is moved to one, going by the code alone. */
function mayMoveFactory(code: string): boolean {
  if (!/\)[\s\\]*\.[\s\\]*(?:to|cuda)\(/.test(code)) return false;
  for (const { index, 0: call } of code.matchAll(FACTORY_CALL)) {
    const open = index + call.length - 1;
    if (/\bdevice\s*=/.test(code.slice(open, behindBracket(code, open)))) continue;
    for (const method of methodsBehind(code, open)) if (method === 'to' || method === 'cuda') return true;
  }
  return false;
}

/** The maker at the root of `torch.zeros(n).long().view(2, -1)`, looking only through methods that do the same anywhere. */
function factoryIn(
  module: PyModule,
  call: PyNode,
): { readonly factory: PyNode; readonly path: string } | undefined {
  const path = calledPath(module, call);
  if (path !== undefined) return fillsAnywhere(path) ? { factory: call, path } : undefined;
  const receiver = receiverOf(call);
  if (receiver?.type !== 'call' || !isExactMethod(module, call)) return undefined;
  return factoryIn(module, receiver);
}

/** It can fill the tensor on any device; `torch.tensor` cannot: its data come from the host either way. */
function fillsAnywhere(path: string): boolean {
  const known = row(path);
  if (known?.makes === 'sizes' || known?.makes === 'numbers') return true;
  return known?.random === true && known.makes === undefined && /^\w+\.\w+$/.test(known.path);
}

function isExactMethod(module: PyModule, call: PyNode): boolean {
  const name = methodName(call) ?? '';
  const args = argumentsOf(call);
  if (name === 'fill_')
    return args.length === 1 && args.every((value) => valueOf(module, value).kind === 'number');
  // A tensor that is turned stays a view of another one.
  if (name === 'repeat') return true;
  return isExact(name) && !/^(?:t|transpose|permute)$|ax|dim/.test(name);
}

/** The device that a move names; `none` where it says more than a device, or moves nothing. */
function deviceOf(module: PyModule, move: PyNode): PyNode | undefined | 'none' {
  const [first, ...others] = argumentsOf(move);
  if (!others.every(isHowToCopy)) return 'none';
  if (methodName(move) === 'cuda') {
    if (first === undefined || first.type === 'integer') return undefined;
    if (isHowToCopy(first)) return undefined;
    return isCertainDevice(module, first) && !valueOf(module, first).isCpu ? first : 'none';
  }
  const named = first?.type === 'keyword_argument';
  const device = named ? first.value : first;
  if (device === undefined || (named && first.name?.text !== 'device')) return 'none';
  if (device.type.endsWith('_splat') || device.type === 'comment') return 'none';
  const answer = valueOf(module, device).isDevice;
  const likely = answer === 'yes' || (answer === 'unknown' && GPU_NAME.test(device.text));
  return likely && !valueOf(module, device).isCpu ? device : 'none';
}

/** `non_blocking=True`: there is nothing to copy once the tensor is made where it belongs. */
function isHowToCopy(argument: PyNode): boolean {
  return /^non_blocking\s*=\s*(?:True|False)$/.test(argument.text);
}

function cudaDevice(move: PyNode): string {
  const [index] = argumentsOf(move);
  return index?.type !== 'integer' ? 'cuda' : `cuda:${index.text}`;
}
