import type { Glimpse } from '../../src/syntax/glimpse.js';
import { givenIn } from '../../src/torch/grad/followed-lines.js';
import { gradlessAmong } from '../../src/torch/grad/gradless-lines.js';
import {
  definitionsOf,
  isCalledLikeNetwork,
  linesOnce,
  madeNumbers,
  mayRunItself,
  once,
  ownMethods,
  someCall,
  type Test,
} from '../../src/torch/grad/numeric-cues.js';

/** What a call is given by name: `render(rays, model)`. */
const GIVEN = /[(,=][\s\\]*(?:self\.)?([a-z]\w*)(?=[\s\\]*[,)])/g;

/** Whether some code may run a network by a call of its own, or gives one to a function of the file. */
function runOrGiveTest(glimpse: Glimpse, mayRun: Test): Test {
  const gives: Test = (code) => {
    for (const [, name = ''] of code.matchAll(GIVEN)) if (isCalledLikeNetwork(name)) return true;
    return false;
  };
  const isOwn: Test = (name) => glimpse.memo(namesDefined).has(name);
  return (code) => mayRun(code) || (gives(code) && givenIn(code, isOwn).some(gives));
}

function namesDefined({ text }: Glimpse): ReadonlySet<string> {
  return new Set([...text.matchAll(/\bdef[ \t\\]+([\w\u0080-\uffff]+)/g)].map(([, name = '']) => name));
}

/** Whether some code may run a network, which a function or a method of the file may do for it. `mayRun`: by a call of its own. */
export function callTest(glimpse: Glimpse, mayRun: Test): Test {
  const mayRunOrGive = runOrGiveTest(glimpse, mayRun);
  const leadsToRun = methodTest(glimpse, once(mayRunOrGive));
  return (code) =>
    mayRunOrGive(code) || someCall(code, ({ name, object }) => object !== undefined && leadsToRun(name));
}

/** Whether some code may assign, or append, what a network gives. */
export function mayKeepOutput(glimpse: Glimpse): Test {
  const mayCall = callTest(glimpse, glimpse.memo(mayRunItself));
  // Strings in the way, lines cannot be told.
  if (glimpse.outline === undefined) return once(mayCall);
  return once((code) => {
    if (!mayCall(code)) return false;
    const lines = glimpse.memo(linesOnce)(code);
    const readIn = glimpse.memo(madeNumbers);
    if (!lines.some(({ text }) => readIn(text).length > 0)) return false;
    const isGradless = gradlessAmong(lines);
    const giving = lines.filter((line) => mayCall(line.text) && !isGradless(line));
    return giving.some(({ text }) => !KEEPS_NOTHING.test(text));
  });
}

/** Neither an assignment nor an `append`, nor the header of such a one. */
const KEEPS_NOTHING = /^(?![\s\S]*(?:=|\bappend\b))|^(?:return|raise|assert|del)\b[^;]*$|:\s*$/;

/** Whether a method of this name, or one that it calls, may run a network. */
function methodTest(glimpse: Glimpse, mayRun: Test): Test {
  const own = glimpse.memo(ownMethods);
  const silent = new Set<string>();
  return once((name) => {
    if (!own.has(name)) return false;
    const asked = new Set([name]);
    for (const each of asked) {
      if (silent.has(each)) continue;
      for (const code of definitionsOf(glimpse, each)) {
        if (mayRun(code)) return true;
        someCall(code, (call) => {
          if (call.object !== undefined && own.has(call.name)) asked.add(call.name);
          return false;
        });
      }
    }
    for (const each of asked) silent.add(each);
    return false;
  });
}
