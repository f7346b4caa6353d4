import { classAround } from '../../src/semantic/definitions.js';
import type { PyModule } from '../../src/semantic/module.js';
import { argumentsOf, methodName } from '../../src/semantic/statements.js';
import { isSetAt } from '../../src/semantic/word-places.js';
import { isWordPart } from '../../src/syntax/beside.js';
import { behindBracket } from '../../src/syntax/code-text.js';
import type { Glimpse } from '../../src/syntax/glimpse.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isBetween } from '../../src/syntax/within.js';
import { valueOf } from '../../src/values/index.js';

export interface MovedAttribute {
  /** `self.name`. */
  readonly attribute: PyNode;
  /** `self.name.to`, `self.name[:n].cuda`. */
  readonly method: PyNode;
  readonly call: PyNode;
}

const MOVED = /\.([\w\u0080-\uffff]+)(?:\[(?:[^[\]\n]|\[[^\]\n]*\])*\])*[\s\\]*\.(?:to|cuda)\(/g;

/** The names of attributes that the code moves and a constructor may have made a tensor, going by the text alone. */
export function movedNames(glimpse: Glimpse): ReadonlySet<string> {
  return glimpse.memo(findMovedNames);
}

function findMovedNames(glimpse: Glimpse): ReadonlySet<string> {
  if (!movesWhatIsSet(glimpse.text)) return new Set();
  const moved = new Set(glimpse.stretchesWith(...MOVES).flatMap(namesIn));
  return new Set([...moved].filter((name) => mayBeMade(glimpse, name)));
}

const CONSTRUCTOR = 'def __init__';
const MOVES = ['.to(', '.cuda('] as const;

/** How far before a move its object is looked for; a longer one may be anything. */
const NEAR = 200;
const CONTAINERS = /\.([\w\u0080-\uffff]+)\[/g;

/** Whether an attribute that is moved is set as well, before strings and comments are told from code. */
function movesWhatIsSet(text: string): boolean {
  const looked = new Set<string>();
  return MOVES.some((move) => {
    for (let at = text.indexOf(move); at !== -1; at = text.indexOf(move, at + 1)) {
      const names = attributesBefore(text, at);
      if (names === undefined) return true;
      for (const name of names) {
        if (!looked.has(name) && isSet(text, `.${name}`)) return true;
        looked.add(name);
      }
    }
    return false;
  });
}

/** What may be the attribute that ends at a place, or holds the item that does; undefined where that may be anything. */
function attributesBefore(text: string, place: number): readonly string[] | undefined {
  let end = place;
  while (text[end - 1] === ' ' || text[end - 1] === '\t' || text[end - 1] === '\\') end--;
  if (end === 0 || text[end - 1] === '\n' || text[end - 1] === '\r') return undefined;
  if (text[end - 1] === ']') {
    const line = text.slice(Math.max(text.lastIndexOf('\n', end) + 1, end - NEAR), end);
    return line.length < NEAR ? [...line.matchAll(CONTAINERS)].map(([, name = '']) => name) : undefined;
  }
  let start = end;
  while (isWordPart(text.charCodeAt(start - 1))) start--;
  return text[start - 1] === '.' ? [text.slice(start, end)] : [];
}

function isSet(text: string, attribute: string): boolean {
  for (let at = text.indexOf(attribute); at !== -1; at = text.indexOf(attribute, at + 1))
    if (isSetAt(text, at, attribute)) return true;
  return false;
}

/** Whether a constructor may assign a tensor to an attribute of this name. */
function mayBeMade(glimpse: Glimpse, name: string): boolean {
  const set = new RegExp(`\\.${name}(?![\\w\\u0080-\\uffff])[^=\\n]*=(?!=)`, 'g');
  return glimpse
    .stretchesWith(CONSTRUCTOR)
    .some(
      (code) =>
        code.includes(CONSTRUCTOR) &&
        [...code.matchAll(set)].some(({ 0: { length }, index }) =>
          mayBeTensor(glimpse, code, index + length),
        ),
    );
}

const NO_TENSOR = /[ \t]*(?:None|nn\.[A-Z]\w*(\())/y;
const END = /[ \t]*(?:[\r\n;]|$)/y;
/** How far a bracket is looked for: longer calls may be anything. */
const FAR = 2_000;

/** False where all that is assigned is `None`, or what torch registers itself: a parameter, a buffer, a module. */
function mayBeTensor(glimpse: Glimpse, code: string, at: number): boolean {
  NO_TENSOR.lastIndex = at;
  const [start, bracket] = NO_TENSOR.exec(code) ?? [];
  if (start === undefined) return true;
  const end = at + start.length;
  if (bracket !== undefined && !glimpse.memo(hasOnlyTorchNn)) return true;
  END.lastIndex = bracket === undefined ? end : end - 1 + behindBracket(code.slice(end - 1, end + FAR), 0);
  return !END.test(code);
}

/** Whether `nn` is that of torch: one import binds it, and nothing else writes the word by itself. */
function hasOnlyTorchNn({ text, outline }: Glimpse): boolean {
  const alone = [...text.matchAll(/(?<![\w.\u0080-\uffff])nn(?![\w.\u0080-\uffff])/g)].filter(
    ({ index }) => !isBetween(outline?.quiet ?? [], index),
  );
  const [only] = alone;
  if (only === undefined || alone.length > 1) return false;
  const [before, behind] = [text.lastIndexOf('\n', only.index) + 1, text.indexOf('\n', only.index)];
  return TORCH_NN.test(text.slice(before, behind === -1 ? undefined : behind));
}

const TORCH_NN =
  /^[ \t]*(?:import[ \t]+torch\.nn[ \t]+as|from[ \t]+torch[ \t]+import\b[^\n]*?)[ \t,]nn\b(?![ \t]+as\b)/;

function namesIn(stretch: string): readonly string[] {
  return [...stretch.matchAll(MOVED)].map(([, name = '']) => name);
}

/** Attributes of an object that its methods move or cast; whether it `isMove` takes a longer look. */
export function* movedAttributes(module: PyModule): Generator<MovedAttribute> {
  const names = movedNames(module.glimpse);
  const may = (stretch: string): boolean => namesIn(stretch).some((name) => names.has(name));
  for (const { parent: method } of MOVES.flatMap((literal) => module.atWhere(literal, may))) {
    const call = method?.parent;
    if (method === undefined || call?.type !== 'call') continue;
    let attribute = method.object;
    while (attribute?.type === 'subscript') attribute = attribute.value;
    const name = attribute?.type === 'attribute' ? attribute.attribute?.text : undefined;
    if (attribute === undefined || name === undefined || !mayBeMade(module.glimpse, name)) continue;
    const isOwn = attribute.object?.text === classAround(attribute)?.self;
    if (isOwn) yield { attribute, method, call };
  }
}

export function isMove(module: PyModule, call: PyNode): boolean {
  const [first] = argumentsOf(call);
  if (methodName(call) === 'cuda') return true;
  if (methodName(call) !== 'to' || first === undefined) return false;
  const device = first.type === 'keyword_argument' ? first.value : first;
  if (first.type === 'keyword_argument' && first.name?.text !== 'device') return false;
  // `.to(x)` of another tensor moves as well.
  return (
    device !== undefined &&
    (valueOf(module, device).isDevice !== 'no' || valueOf(module, device).kind === 'tensor')
  );
}
