import { Vocabulary } from '../../workspace/selection.js';
import { SHELLS, scriptFor } from '../completion.js';
import { type Context, EXIT } from '../context.js';

/** The script with which a shell completes memfix's words. */
export async function completions(context: Context): Promise<number> {
  const { args, catalogue } = context;
  const [word, another] = args.operands;
  const shell = SHELLS.find((each) => each === word);
  if (shell === undefined || another !== undefined)
    throw args.misuse(`\`memfix completions\` takes the name of one shell: ${SHELLS.join(', ')}.`);
  context.out(scriptFor(shell, new Vocabulary(catalogue).names));
  return EXIT.clean;
}
