import { isModuleClass } from '../library/paths.js';
import { callsNamed, methodCallsAt } from '../semantic/called-name.js';
import { ancestryOf, calledDefinition } from '../semantic/definitions.js';
import { definedElsewhere } from '../semantic/elsewhere.js';
import { calledPath } from '../semantic/imports.js';
import type { PyModule } from '../semantic/module.js';
import { receiverOf } from '../semantic/statements.js';
import { isTestCode } from '../semantic/test-code.js';
import { waysGiven } from '../semantic/variables.js';
import type { PyNode } from '../syntax/node.js';
import type { Found, Network } from './reading.js';
import type { Script } from './script.js';
import { assignedTo } from './trained.js';

const CONVOLUTION = /\b(?:Lazy)?Conv(?:Transpose)?[123]d\b/;
/** Of other libraries: what is made by them is no model that a budget knows. */
const VISION = /^(?:torchvision|timm|segmentation_models_pytorch|monai|diffusers|ultralytics)\./;

/** The network whose parameters an optimizer gets, where the project or a library that is not counted makes it. */
export function networkOf(script: Script): Found<Network> | undefined {
  const { module } = script;
  for (const call of methodCallsAt(module, '.parameters(')) {
    const receiver = receiverOf(call);
    if (receiver === undefined || isTestCode(module, call)) continue;
    const ways = waysGiven(module, receiver.type === 'identifier' ? receiver : undefined);
    const values =
      receiver.type === 'attribute'
        ? assignedTo(module, receiver)
        : ways.flatMap((way) => (way.kind === 'value' ? way.value : []));
    for (const value of values) {
      const found = networkMade(script, value);
      if (found !== undefined) return found;
    }
  }
  const loads = [
    ...methodCallsAt(module, '.from_pretrained('),
    ...callsNamed(module, 'create_model').map(({ call }) => call),
  ];
  const [load] = loads.filter((call) => VISION.test(calledPath(module, call) ?? ''));
  const path = load && calledPath(module, load)?.replace(/\.from_pretrained$/, '');
  return load && path ? script.found({ name: path, isConvolutional: true }, load) : undefined;
}

/** By the call that makes it, perhaps moved or wrapped: `UNet(3).to(device)`, `nn.DataParallel(UNet(3))`. */
function networkMade(script: Script, value: PyNode): Found<Network> | undefined {
  const { module } = script;
  for (const call of value.walk()) {
    if (call.type !== 'call') continue;
    const path = calledPath(module, call);
    if (path !== undefined && VISION.test(path))
      return script.found({ name: path, isConvolutional: true }, call);
    const own = calledDefinition(module, call);
    const there = own === undefined && path !== undefined ? definedElsewhere(module, path) : undefined;
    const home = there?.module ?? module;
    const node = there?.node ?? own;
    if (node?.type !== 'class_definition' || !isNetwork(home, node)) continue;
    const name = node.name?.text ?? path ?? '';
    const place = { ...script.found({ name, isConvolutional: isConvolutional(home, node) }, call) };
    return { ...place, words: name };
  }
  return undefined;
}

function isNetwork(module: PyModule, classNode: PyNode): boolean {
  return ancestryOf(module, classNode).imported.some(isModuleClass);
}

/** By its own code, or by that of the parts that stand in its file. */
function isConvolutional(module: PyModule, classNode: PyNode): boolean {
  return CONVOLUTION.test(module.codeOf(classNode)) || module.mentions(CONVOLUTION);
}
