import { originsJson, renderOrigins } from '../../report/origins.js';
import { originsOf } from '../../workspace/config-origins.js';
import { configSchema } from '../../workspace/config-schema.js';
import { shownFrom } from '../../workspace/places.js';
import { Project } from '../../workspace/project.js';
import { type Context, EXIT } from '../context.js';
import { PAGE_FORMATS } from '../formats.js';

/** What is configured, and where each value comes from. Nothing is scanned. */
export async function config(context: Context): Promise<number> {
  const { args, io, catalogue, view } = context;
  if (args.flag('schema')) {
    context.out(`${JSON.stringify(configSchema(catalogue.entries), undefined, 2)}\n`);
    return EXIT.clean;
  }
  const isJson = args.oneOf('output-format', PAGE_FORMATS, 'full') === 'json';
  const project = new Project(args.request(io.cwd, io.env), catalogue);
  const { files, settings } = originsOf(project);
  const isFile = new Set(files);
  const shown = (source: string) => (isFile.has(source) ? shownFrom(io.cwd, source) : source);
  // Which files have one of their own is known when they are looked for.
  project.discover();
  const origins = {
    files: files.map(shown),
    nested: project.nestedConfigs.flatMap(({ path }) => (path === undefined ? [] : shownFrom(io.cwd, path))),
    settings: settings.map(({ source, overruled, ...rest }) => ({
      ...rest,
      source: shown(source),
      ...(overruled !== undefined && { overruled: shown(overruled) }),
    })),
  };
  context.out(isJson ? originsJson(origins) : renderOrigins(origins, view));
  return EXIT.clean;
}
