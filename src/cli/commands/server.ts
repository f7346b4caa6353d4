import { type Context, EXIT } from '../context.js';
import { serve } from '../server/server.js';

export async function server(context: Context): Promise<number> {
  const { args, io } = context;
  if (args.operands.length > 0)
    throw args.misuse('An editor says which folders it has open; name none here.');
  if (io.stdin.isTTY === true)
    throw args.misuse('`memfix server` is started by an editor, which speaks to it on standard input.');
  await serve(context);
  return EXIT.clean;
}
