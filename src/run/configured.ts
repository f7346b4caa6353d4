import { callsNamed } from '../semantic/called-name.js';
import { calledPath, qualifiedName } from '../semantic/imports.js';
import { argumentsOf } from '../semantic/statements.js';
import type { PyNode } from '../syntax/node.js';
import { CONFIGURATIONS } from './configurations.js';
import type { Found, Reading, Said } from './reading.js';
import { type Script, shownCode } from './script.js';
import { definitionOf } from './trained.js';
import { onlyValue } from './value.js';

/** Classes of models that have no logits of words. */
export const HEADS = /For(?:Sequence|Token)Classification$|ForQuestionAnswering$|ForMultipleChoice$/;

/** `BertForTokenClassification(config)`, or a network of the project that is given one: a model that is trained from nothing. */
export function configured(
  script: Script,
  made: readonly PyNode[],
): { readonly reading: Reading; readonly call: PyNode } | undefined {
  const configs = configurations(script);
  const isGiven = (call: PyNode) => configs.some((each) => isGivenTo(script, call, each));
  const call = made.find(isGiven);
  const config = call && configs.find((each) => isGivenTo(script, call, each));
  if (call === undefined || config === undefined) return undefined;
  const classes = headOf(script, call, config);
  const instead = made.filter(
    (each, index) =>
      each !== call &&
      !isGiven(each) &&
      made.findIndex((other) => other.function?.text === each.function?.text) === index,
  );
  return {
    call,
    reading: {
      config,
      ...(classes !== undefined && { classes }),
      open: instead.map(
        (each) =>
          `\`${shownCode(each)}\` (${script.placeOf(each)}) may be trained instead, and is not counted.`,
      ),
    },
  };
}

/** How many classes the head tells apart, where the class or what it makes of the configuration has none for words. */
function headOf(
  script: Script,
  call: PyNode,
  config: Found<Readonly<Record<string, unknown>>>,
): Said<number> | undefined {
  const there = definitionOf(script.module, call);
  const within = there === undefined ? [] : [...there.node.walk()].filter(({ type }) => type === 'call');
  const head = [
    calledPath(script.module, call) ?? '',
    ...within.map((each) => (there && calledPath(there.module, each)) ?? ''),
  ].find((path) => HEADS.test(path));
  if (head === undefined) return undefined;
  const labels = config.value['num_labels'];
  return typeof labels === 'number'
    ? { ...config, value: labels }
    : {
        place: config.place,
        why: `how many labels \`${head.split('.').at(-1)}\` has cannot be told`,
        likely: 2,
      };
}

type Config = NonNullable<Reading['config']>;

/** Whether a call that makes a model gets this configuration. */
export function isGivenTo(script: Script, call: PyNode, config: Config): boolean {
  return argumentsOf(call).some((each) => {
    const value = each.type === 'keyword_argument' ? each.value : each;
    const own = value?.type === 'identifier' ? onlyValue(script.module, value) : value;
    return own !== undefined && own.type === 'call' && script.placeOf(own) === config.place;
  });
}

/** `LlamaConfig(hidden_size=1024, …)`: models that are made here. */
export function configurations(script: Script): readonly Config[] {
  const { module } = script;
  return [...CONFIGURATIONS].flatMap(([name, model]) =>
    callsNamed(module, name).flatMap(({ call }) => {
      const callee = call.function;
      if (callee === undefined || qualifiedName(module, callee)?.startsWith('transformers.') !== true)
        return [];
      const settings = argumentsOf(call).flatMap((argument) => {
        const key = argument.type === 'keyword_argument' ? argument.name?.text : undefined;
        const value = argument.value && script.value(argument.value)?.value;
        return key === undefined || value === undefined ? [] : [[key, value] as const];
      });
      return [script.found({ model_type: model, ...Object.fromEntries(settings) }, call)];
    }),
  );
}

/** The first of them; of a load, that which it is given, or any where the load does not say which model it is. */
export function configuration(script: Script, load?: { readonly call: PyNode; readonly isNamed: boolean }) {
  const configs = configurations(script);
  const given = load && configs.find((each) => isGivenTo(script, load.call, each));
  const config = given ?? (load?.isNamed === true ? undefined : configs[0]);
  return config === undefined ? {} : { config };
}
