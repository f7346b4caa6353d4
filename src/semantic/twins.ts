import type { PyNode } from '../syntax/node.js';
import { placesOf, targetGiven } from './called-name.js';
import { definitionOf } from './flow.js';
import type { PyModule } from './module.js';
import { isPlainPath, receiverOf } from './statements.js';

/** What the same class made as one of these, by its text: `self.target` of `self.target = Critic(…)` beside `self.local = Critic(…)`. */
export function* twinsOf(module: PyModule, texts: ReadonlySet<string>): Generator<string> {
  const makers = new Set<string>();
  for (const text of texts) {
    for (const place of placesOf(module, text)) {
      const value = place.parent?.left === place ? place.parent.right : valueAt(place);
      const maker = value && classCalled(value);
      if (maker !== undefined) makers.add(maker.text);
    }
  }
  for (const maker of makers) {
    for (const node of module.at(`${maker}(`)) {
      const call = node.closest('call');
      const target = call?.function?.text === maker ? targetGiven(call) : undefined;
      if (target !== undefined && isPlainPath(target)) yield target.text;
    }
  }
}

/** What a name is given, also in `a, b = Net(), Net()`. */
function valueAt(place: PyNode): PyNode | undefined {
  const definition = place.type === 'identifier' ? definitionOf(place) : undefined;
  return definition?.kind === 'value' ? definition.value : undefined;
}

/** `Net` of `Net(3).to(device)`; what a function makes may be anything. */
function classCalled(value: PyNode): PyNode | undefined {
  let call = value;
  for (let inner = receiverOf(call); inner?.type === 'call'; inner = receiverOf(call)) call = inner;
  const callee = call.type === 'call' ? call.function : undefined;
  return callee !== undefined && /(?:^|\.)[A-Z]\w*$/.test(callee.text) ? callee : undefined;
}
