import type { PyModule } from '../semantic/module.js';
import { placeText } from '../text/place.js';
import type { Moment } from '../toolkit/contract.js';
import { collectedAt, isOutput } from './code.js';
import type { Frame } from './frame.js';
import type { Block, Places, Spot, Text } from './places.js';

/** A frame of the user's own code that was found in the files. */
interface Own {
  readonly frame: Frame;
  readonly spot: Spot;
}

const PRODUCT = /\w\s*@\s*\w|\b(?:matmul|bmm|baddbmm|einsum)\(/;
const TRANSPOSED = /\.(?:transpose|permute|swapaxes|swapdims)\(|\.(?:mT|T)\b|\beinsum\(/;
const ON_PAIRS = /\bsoftmax\(|\.masked_fill_?\(|[Dd]ropout\(/;

/** What the lines around the place say that no transform would change. */
export function cluesIn(
  frames: readonly Own[],
  moments: readonly Moment[],
  places: Places,
  isGradOff: boolean,
): readonly string[] {
  const innermost = frames.at(-1);
  return [
    ...(innermost === undefined ? [] : attentionIn(innermost, places, isGradOff)),
    ...(moments.includes('evaluation') ? new Set(frames.flatMap((own) => collectedBy(own, places))) : []),
  ];
}

/** Attention that is written out: a product with something transposed, a softmax, and it ran out on what they make. */
function attentionIn({ frame, spot }: Own, places: Places, isGradOff: boolean): readonly string[] {
  const text = places.textOf(spot.file);
  if (text === undefined || spot.within === undefined || frame.source === undefined) return [];
  const lines = text.codeOf(spot.within);
  const isWhole =
    lines.some((line) => /\bsoftmax\(/.test(line)) &&
    lines.some((line) => PRODUCT.test(line)) &&
    lines.some((line) => TRANSPOSED.test(line));
  if (!isWhole || !(PRODUCT.test(frame.source) || ON_PAIRS.test(frame.source))) return [];
  const has = lines.some((line) => /\bscaled_dot_product_attention\(/.test(line));
  const cure = has
    ? 'The same function calls `scaled_dot_product_attention`, which does without them, in a branch that did not run: see what it depends on, such as the torch that is installed.'
    : '`torch.nn.functional.scaled_dot_product_attention` (torch 2.0 or newer) computes the same without them, rounded otherwise.';
  return [
    `\`${spot.within.name}\` writes attention out: it makes one number for each pair of positions, which grows with the square of the length${isGradOff ? '' : ', and the backward pass keeps several such'}. ${cure}`,
  ];
}

const COLLECTS = /^\s*([\w.]+)\.(?:append|extend)\((.*)\)\s*$/;
const MOST = 2;

/** Lists that grow in the loop that a frame of an evaluation is in. */
function collectedBy({ spot }: Own, places: Places): readonly string[] {
  const text = places.textOf(spot.file);
  const { line, within } = spot;
  if (text === undefined || line === undefined || within === undefined) return [];
  const module = places.moduleOf(spot.file);
  const found = text
    .loopsAround(line, within)
    .flatMap((loop) => collecting(text, loop))
    .filter((each) => isOfTheDevice(module, each.line));
  const [first, ...more] = new Map(found.map((each) => [each.line, each])).values();
  if (first === undefined) return [];
  const codes = [first, ...more.slice(0, MOST - 1)].map(({ code }) => `\`${code}\``).join(' and ');
  const place = placeText(spot.file, text.told(first.line));
  return [
    `${codes} in \`${within.name}\` (${place}) ${more.length > 0 ? 'keep' : 'keeps'} an output of every pass on the GPU, with all that came before it, unless it is moved (\`.cpu()\`) or made small first (\`argmax\`).`,
  ];
}

function isOfTheDevice(module: PyModule | undefined, line: number): boolean {
  const value = module === undefined ? undefined : collectedAt(module, line);
  return module !== undefined && value !== undefined && isOutput(module, value);
}

function collecting(text: Text, loop: Block): readonly { readonly line: number; readonly code: string }[] {
  return text.codeOf(loop).flatMap((code, index) => {
    const given = COLLECTS.exec(code)?.[2];
    return given === undefined || given.trim() === ''
      ? []
      : [{ line: loop.first + index, code: code.trim() }];
  });
}
