import { basename, dirname, join, relative, resolve } from 'node:path';
import { printable } from '../../report/cells.js';
import { wrap } from '../../report/prose.js';
import { nearestConfig } from '../../workspace/config-file.js';
import { shownFrom, slashed } from '../../workspace/places.js';
import { NEW_ID, pluginFiles } from '../../workspace/plugins/scaffold.js';
import { writeNew } from '../../workspace/plugins/write-new.js';
import { type Context, EXIT } from '../context.js';
import { widthOf } from '../io.js';
import { lawsFor } from '../laws.js';

const USUAL_FOLDER = 'memfix_rules';

/** The files of a plugin in the user's own repository, with fixtures that hold to the laws. */
export async function newTransform(context: Context): Promise<number> {
  const { args, io, catalogue } = context;
  const [id, folder = USUAL_FOLDER, another] = args.operands;
  if (id === undefined || another !== undefined || !NEW_ID.test(id))
    throw args.misuse(
      '`memfix new-transform` takes an id of two words or more in kebab-case, such as acme-cache.',
    );
  if (catalogue.entries.some((entry) => entry.id === id || entry.aliases?.includes(id)))
    throw args.misuse(`\`${id}\` is a transform of memfix: begin yours with the name of your team.`);
  const place = resolve(io.cwd, folder);
  const shown = slashed(relative(io.cwd, place)) || '.';
  writeNew(place, pluginFiles(id));
  const file = join(place, `${id}.mjs`);
  for (const { check } of await lawsFor(context, [{ name: file, file }], true)) await check();
  const named = printable(shown.startsWith('.') ? shown : `./${shown}`);
  const config = nearestConfig(io.cwd, { refuses: () => undefined })?.path ?? join(io.cwd, 'pyproject.toml');
  const isShared = basename(config) === 'pyproject.toml';
  const fromConfig = printable(slashed(relative(dirname(config), place)) || '.');
  const plugin = fromConfig.startsWith('.') ? fromConfig : `./${fromConfig}`;
  const width = io.stdout.isTTY === true ? widthOf(io.stdout) : Infinity;
  const prose = (text: string, margin = '') => wrap(text, width, { first: margin, rest: margin }).join('\n');
  const next = [
    [`test-transform ${named}/${id}.mjs`, 'holds its fixtures to the laws'],
    [
      `test-transform --record ${named}/${id}.mjs`,
      'writes findings.json, and output.py where there is none: read the diff',
    ],
    ['trust', 'lets the plugins of your config run here'],
  ] as const;
  context.out(
    [
      prose(`wrote ${named}/${id}.mjs, its test, and its fixtures in ${named}/fixtures/${id}/`),
      '',
      prose(
        `It removes calls of \`torch.cuda.empty_cache\`, as an example: change it and its fixtures. Name it in ${printable(shownFrom(io.cwd, config))}:`,
      ),
      ...(isShared ? ['  [tool.memfix]'] : []),
      `  plugins = ["${plugin}/${id}.mjs"]`,
      `  exclude = ["${plugin.replace(/^\.\//, '')}/fixtures/"]`,
      '',
      ...next.flatMap(([words, does]) => [`  memfix ${words}`, prose(does, '      ')]),
      '',
    ].join('\n'),
  );
  return EXIT.clean;
}
