import { definitionNamed } from '../../src/semantic/definitions.js';
import { definitionOf } from '../../src/semantic/flow.js';
import type { PyModule } from '../../src/semantic/module.js';
import { isNotebook, isProgram } from '../../src/semantic/program.js';
import { argumentsOf, ownNodes, unparenthesized } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';

/** Whether others may install a file, so that code outside of the project may call its functions. */
export function isInstallable(module: PyModule): boolean {
  return isInstalledBySetup(module) || isInstalledByProject(module);
}

/** What else than packages, with the folders that hold their `__init__.py`, a setup script may install. */
const OTHER_PARTS = /\bpy_modules\b|\bpackage_dir\b|\bfind_namespace|\bscripts\s*=|\bpackages\s*=\s*\[/;

function isInstalledBySetup(module: PyModule): boolean {
  const script = module.around.file('setup.py')?.text ?? '';
  if (!/\bsetup\s*\(/.test(script)) return false;
  const takesPackages = /\bfind_packages\s*\(/.test(script) && !OTHER_PARTS.test(script);
  return !takesPackages || module.around.text('.') !== undefined;
}

function isInstalledByProject(module: PyModule): boolean {
  const project = module.around.file('pyproject.toml')?.text ?? '';
  if (!/^\[(?:project|tool\.poetry|build-system)\]/m.test(project)) return false;
  const poetry = /^\[tool\.poetry\][^[]*/m.exec(project)?.[0];
  if (poetry === undefined || /^\[project\]/m.test(project)) return true;
  if (/^package-mode\s*=\s*false\b/m.test(poetry)) return false;
  if (/^(?:packages|include)\s*=/m.test(poetry)) return true;
  const name = /^name\s*=\s*["']([\w.-]+)["']/m.exec(poetry)?.[1];
  // Poetry takes the folder or file of the project's name, and nothing where there is none.
  return name === undefined || module.around.text(name.replace(/[-.]/g, '_').toLowerCase()) !== undefined;
}

/** A program by what it says, or because it works as soon as it is loaded: it loops, prints, or calls a function of its own. */
export function isScript(alone: PyModule): boolean {
  if (isProgram(alone)) return true;
  if (isNotebook(alone) || /(?:^|[\\/])__init__\.py$/.test(alone.path)) return false;
  return [...ownNodes(alone.root)].some((node) => {
    if (node.type === 'for_statement' || node.type === 'while_statement') return true;
    const callee = node.type === 'expression_statement' ? node.named[0]?.function : undefined;
    if (callee === undefined) return false;
    return callee.text === 'print' || definitionNamed(alone, callee)?.type === 'function_definition';
  });
}

/** Whether a variable holds only what the code here makes: no value that others hand in, nor what they hand in makes. */
export function isMadeHere(module: PyModule, variable: PyNode): boolean {
  const scope = variable.type === 'identifier' ? module.resolve(variable) : undefined;
  const writes = scope === undefined ? [] : module.writes(scope, variable.text);
  return (
    writes.length > 0 &&
    writes.every((write) => {
      const definition = definitionOf(write);
      const value = definition.kind === 'value' ? unparenthesized(definition.value) : undefined;
      return value?.type === 'call' && (isOwn(module, value) || originOf(value)?.text === variable.text);
    })
  );
}

/** Made by what stands in the file itself, or is imported. */
function isOwn(module: PyModule, call: PyNode): boolean {
  const origin = originOf(call);
  if (origin?.text === 'getattr') {
    const [owner] = argumentsOf(call.function ?? call);
    return owner?.type === 'identifier' && module.resolve(owner) === module.scope;
  }
  return origin !== undefined && module.resolve(origin) === module.scope;
}

/** `models` of `models.make(name)(width).cuda()`. */
function originOf(node: PyNode): PyNode | undefined {
  if (node.type === 'identifier') return node;
  const inner = node.function ?? node.object ?? node.value;
  return inner && originOf(inner);
}
