import { isNamedAnywhere } from '../../src/semantic/anywhere.js';
import { definitionBehind } from '../../src/semantic/definitions.js';
import type { PyModule } from '../../src/semantic/module.js';
import { ask, type Question } from '../../src/semantic/question.js';
import { reachedFrom } from '../../src/semantic/reach.js';
import { functionElsewhere } from '../../src/semantic/star-imports.js';
import { decoratorsOf } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { usedAsValue } from '../../src/values/effects/handed-on.js';

/** What shows that a function is wrapped: `inspect.signature()` and `getsource()` see through it. */
const INSIDES = ['__code__', '__defaults__', '__kwdefaults__', 'getfullargspec', 'getargspec', 'getcallargs'];

/** What counts the calls between a function and its caller. */
const FRAMES =
  /\bstacklevel\s*=|\b(?:_getframe|currentframe|getouterframes|extract_stack|findCaller|f_back)\b|\binspect\s*\.\s*stack\(/;

/** What hears of every call. */
const TRACERS = ['settrace', 'setprofile'];

/** Code that would find the decorator where it looks for the function itself. */
export function looksBehindDecorator(module: PyModule, functionNode: PyNode): Question | undefined {
  const name = functionNode.name?.text ?? '';
  const frames = framesCounted(module, functionNode) ?? TRACERS.find((word) => isNamedAnywhere(module, word));
  if (frames !== undefined)
    return ask(
      'frames-not-counted',
    )`May \`${frames}\`, which looks at who called, find the decorator between \`${name}\` and its caller?`;
  const looking = insidesAsked(module, functionNode, name);
  return looking === undefined
    ? undefined
    : ask(
        'insides-not-asked',
      )`Is \`${name}\` left alone by the code that asks functions for \`${looking}\`, which a decorator hides?`;
}

function framesCounted(module: PyModule, functionNode: PyNode): string | undefined {
  const own = [functionNode, ...reachedFrom(module, functionNode)];
  const found = own.find((each) => FRAMES.test(module.codeOf(each)));
  if (found !== undefined) return found.name?.text;
  for (const call of (functionNode.body ?? functionNode).walk()) {
    const callee = call.type === 'call' ? call.function : undefined;
    const called = callee && functionElsewhere(module, callee);
    if (called !== undefined && FRAMES.test(called.module.codeOf(called.node))) return called.node.name?.text;
  }
  return undefined;
}

/** The word by which some code asks for the insides of a function that may be this one. */
function insidesAsked(module: PyModule, functionNode: PyNode, name: string): string | undefined {
  for (const word of INSIDES) {
    const files = module.around.summaries({ word, beside: [] }, asksFor);
    const asks = module.alone.words(word).length > 0 || files === undefined || files.includes(true);
    if (asks && (isDecorated(module, functionNode, word) || isHandedAround(module, name))) return word;
  }
  return undefined;
}

function asksFor(alone: PyModule, word: string): boolean {
  return alone.words(word).length > 0;
}

function isDecorated(module: PyModule, functionNode: PyNode, word: string): boolean {
  return decoratorsOf(functionNode).some((decorator) => {
    const callee = decorator.type === 'call' ? (decorator.function ?? decorator) : decorator;
    const own = definitionBehind(module, callee);
    if (own !== undefined) return module.codeOf(own).includes(word);
    const found = functionElsewhere(module, callee);
    return found === undefined
      ? module.resolve(callee) !== undefined
      : found.module.codeOf(found.node).includes(word);
  });
}

/** Some file gives it to others, or asks it on the spot. */
function isHandedAround(module: PyModule, name: string): boolean {
  const files = module.around.summaries({ word: name, beside: [] }, handsAround);
  return handsAround(module.alone, name) || files === undefined || files.includes(true);
}

function handsAround(alone: PyModule, name: string): boolean {
  return (
    usedAsValue(alone, name) ||
    alone.words(name).some(({ parent, text }) => {
      const value = parent?.type === 'attribute' && parent.attribute?.text === text ? parent.parent : parent;
      return value?.type === 'attribute' && INSIDES.includes(value.attribute?.text ?? '');
    })
  );
}
