import { join, relative, resolve } from 'node:path';
import { FORMAT_NAMES, type FormatName } from '../report/formats/formats.js';
import type { About } from '../report/formats/publication.js';
import { didYouMean } from '../text/resemblance.js';
import { filesFrom } from '../workspace/assumptions.js';
import { textOf } from '../workspace/bounded.js';
import { isInside, repositoryRoot, slashed } from '../workspace/places.js';
import type { Context } from './context.js';
import { OTHERS_FORMATS } from './others-words.js';
import { ownVersion, packageRoot } from './package.js';

/** One format that was asked for. */
export interface Output {
  readonly format: FormatName;
  /** Absent: standard output, or what `--output` names. */
  readonly file?: string;
}

/** Also checks the words, so ask before the work begins. */
export function outputsOf({ args }: Pick<Context, 'args'>): readonly Output[] {
  const words = args.each('output-format');
  const outputs = (words.length === 0 ? [FORMAT_NAMES[0] ?? ''] : words).map((word): Output => {
    const at = word.indexOf('=');
    const name = at === -1 ? word : word.slice(0, at);
    const file = at === -1 ? undefined : word.slice(at + 1);
    const format = FORMAT_NAMES.find((each) => each === name);
    if (format === undefined)
      throw args.misuse(
        `\`--output-format\` cannot be \`${name}\`: it is one of ${FORMAT_NAMES.join(', ')}.${ownFormatter(name) ?? didYouMean(OTHERS_FORMATS.get(name) ?? name, FORMAT_NAMES)}`,
      );
    if (file === '') throw args.misuse(`\`--output-format ${word}\` names no file after \`=\`.`);
    return file === undefined || file === '-' ? { format } : { format, file };
  });
  const plain = outputs.filter(({ file }) => file === undefined);
  if (plain.length > 1)
    throw args.misuse(
      `${plain.map(({ format }) => `\`${format}\``).join(' and ')} cannot share standard output: write \`${plain[0]?.format}=FILE\`.`,
    );
  const files = outputs.flatMap(({ file }) => file ?? []);
  const twice = files.find((file, index) => files.indexOf(file) !== index);
  if (twice !== undefined) throw args.misuse(`\`--output-format\` names the file \`${twice}\` twice.`);
  return outputs;
}

/** A program of the user's own, as ESLint takes it. */
function ownFormatter(name: string): string | undefined {
  return /\.[cm]?[jt]s$|\//.test(name)
    ? ' A formatter of your own reads what `--output-format json` prints.'
    : undefined;
}

/** What formats for programs tell besides the report. */
export function aboutRun({ io, catalogue }: Pick<Context, 'io' | 'catalogue'>): About {
  const { cwd } = io;
  const root = repositoryRoot(cwd) ?? cwd;
  return {
    version: ownVersion(),
    get metas() {
      return catalogue.metas;
    },
    // The first line says where the page comes from.
    page: (id) => textOf(join(packageRoot(), 'transforms', `${id}.md`))?.replace(/^<!--[^\n]*-->\s*/, ''),
    fromRoot(path) {
      const place = resolve(cwd, path);
      return slashed(isInside(place, root) ? relative(root, place) : place);
    },
    inWords: filesFrom(root, cwd),
  };
}
