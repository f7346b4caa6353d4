import { PyModule } from '../semantic/module.js';
import type { Surroundings } from '../semantic/surroundings.js';
import type { PythonParser, SyntaxTree } from '../syntax/parser.js';
import type { Project } from '../workspace/project.js';

/** What a file of a project sees of the others, and which versions of packages it runs with. */
export type Around = (path: string, self: () => PyModule) => Surroundings;

export async function aroundIn({ neighbourhood }: Project, parser: PythonParser): Promise<Around> {
  const { Neighbours } = await import('../engine/neighbours.js');
  const neighbours = new Neighbours(parser, neighbourhood);
  return (path, self) => neighbours.around(path, false, self);
}

/** A file as transforms see it. */
export function moduleIn(around: Around, path: string, text: string, tree: SyntaxTree): PyModule {
  const alone = new PyModule(path, text, tree);
  return alone.seenWith(around(path, () => alone));
}
