import { basename } from 'node:path';
import { renderOverview } from '../../report/overview.js';
import { isNotebookName } from '../../text/notebook/notebook.js';
import { ParserOnDemand } from '../../workspace/parser-choice.js';
import { Project } from '../../workspace/project.js';
import { packagesIn, survey } from '../../workspace/survey.js';
import { Tools } from '../../workspace/tools.js';
import { prepareFor } from '../../workspace/tuning.js';
import { unchanged } from '../../workspace/unchanged.js';
import { type Context, EXIT } from '../context.js';
import { prepare } from '../looking.js';

/** Milliseconds that a quick look takes at most, once it has begun. */
const TIME = 500;

/** `memfix` alone, in a terminal: what is in this folder, and the one next command. */
export async function overview(context: Context): Promise<number> {
  const { io, view, args, catalogue } = context;
  const look = await prepare(context);
  const folder = basename(io.cwd) || io.cwd;
  const { lead, discovery } = look;
  const known = lead && unchanged(lead.folder, lead, false);
  if (known !== undefined) {
    const imports = packagesIn(discovery.candidates, TIME);
    const notebooks = discovery.candidates.filter(({ path }) => isNotebookName(path)).length;
    context.out(
      renderOverview(
        { folder, files: known.files, notebooks, ...imports, scans: known.scans, unsettled: undefined },
        view,
      ),
    );
    return EXIT.clean;
  }
  const { candidates } = discovery;
  prepareFor(candidates.length * 10_000);
  const toolsOf = (isLeft: () => boolean) =>
    new Tools(
      new Project(args.request(io.cwd, io.env), catalogue, isLeft),
      new ParserOnDemand(io.env['MEMFIX_PARSER'], true),
    );
  const both = { tools: toolsOf(() => true), closer: toolsOf(() => false) };
  context.out(renderOverview({ folder, ...(await survey(candidates, both, TIME)) }, view));
  return EXIT.clean;
}
