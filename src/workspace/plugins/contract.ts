import { PyNode } from '../../syntax/node.js';
import { NotInPieces } from '../../syntax/pieces.js';
import { hasControls } from '../../text/controls.js';
import type { OptionSpec, Site, Transform, TransformMeta } from '../../toolkit/contract.js';
import { EditBuilder, Unfixable } from '../../toolkit/edit-builder.js';
import type { PluginMeta, PluginToolkit, PluginTransform } from '../../toolkit/plugin.js';
import { PluginFault } from '../../toolkit/plugin-fault.js';
import { Failure } from '../failure.js';
import { Overdue } from '../limit.js';
import { LeftToOthers } from '../neighbourhood.js';
import { GROUPS, PLUGIN_ID, SYMPTOMS } from '../selection.js';

const SAFETIES: readonly string[] = ['safe', 'unsafe', 'advice'];
const NUMERICS: readonly string[] = ['bit-identical', 'rounding', 'changes-training'];
const OPTION_TYPES: readonly string[] = ['boolean', 'integer', 'string'];

/** The transforms of what a plugin's file exports, checked: it is JavaScript, so no compiler has read it. */
export function transformsIn(
  plugin: string,
  exported: unknown,
  version: number,
  toolkit: PluginToolkit,
): readonly Transform[] {
  if (!isRecord(exported))
    throw refusal(plugin, 'its default export is no object with `apiVersion` and `transforms`');
  const { apiVersion } = exported;
  if (apiVersion !== version) {
    const made =
      typeof apiVersion === 'number'
        ? `is made for version ${apiVersion} of the plugin API`
        : 'names no `apiVersion`';
    throw new Failure(
      'A plugin does not fit this memfix',
      `${plugin} ${made}; this memfix has version ${version}`,
      'Get a version of the plugin for this memfix, or of memfix for the plugin.',
    );
  }
  if (typeof exported['transforms'] !== 'function')
    throw refusal(plugin, '`transforms` is no function of the toolkit');
  const made: unknown = guardedly(plugin, () =>
    (exported as { transforms(given: PluginToolkit): unknown }).transforms(toolkit),
  );
  if (!Array.isArray(made) || made.length === 0)
    throw refusal(plugin, '`transforms` gives no list of transforms');
  return made.map((each: unknown) => checked(plugin, each));
}

function guardedly<T>(plugin: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    throw refusal(
      plugin,
      `its \`transforms\` failed: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function checked(plugin: string, value: unknown): Transform {
  if (!isRecord(value) || !isRecord(value['meta'])) throw refusal(plugin, 'a transform has no `meta`');
  const meta = value['meta'];
  const id = meta['id'];
  if (typeof id !== 'string' || !PLUGIN_ID.test(id))
    throw refusal(
      plugin,
      `${JSON.stringify(id)} is no id: two words or more in kebab-case, such as acme-cache`,
    );
  const wrong = problemOf(value, meta);
  if (wrong !== undefined) throw refusal(plugin, `\`${id}\`: ${wrong}`);
  return guarded(plugin, value as unknown as PluginTransform);
}

/** What is wrong with a transform, as the user reads it. */
function problemOf(
  value: Readonly<Record<string, unknown>>,
  meta: Readonly<Record<string, unknown>>,
): string | undefined {
  const among: readonly (readonly [string, readonly string[], boolean])[] = [
    ['symptom', SYMPTOMS, true],
    ['safety', SAFETIES, true],
    ['numerics', NUMERICS, true],
    ['group', GROUPS, false],
  ];
  for (const [key, known, isNeeded] of among) {
    if (meta[key] === undefined && !isNeeded) continue;
    if (!known.some((each) => each === meta[key])) return `\`meta.${key}\` is one of ${known.join(', ')}`;
  }
  if (!isLine(meta['summary'])) return '`meta.summary` must be a line of text';
  const docs = isRecord(meta['docs']) ? meta['docs'] : {};
  for (const name of ['why', 'does'])
    if (typeof docs[name] !== 'string' || docs[name] === '') return `\`meta.docs.${name}\` must be a text`;
  const { options = {}, aliases = [] } = meta;
  if (!isRecord(options) || !Object.values(options).every(isOption))
    return '`meta.options` must be a table of options, each with `type`, `default` and `summary`';
  if (!Array.isArray(aliases) || aliases.length > 0) return '`meta.aliases` is for memfix itself';
  const literals: unknown = value['prefilter'];
  const isLiteral = (each: unknown) => typeof each === 'string' && /^[\x20-\x7e]{3,}$/.test(each);
  const isPrefilter =
    Array.isArray(literals) &&
    literals.length > 0 &&
    literals.every((each: unknown) =>
      Array.isArray(each) ? each.length > 0 && each.every(isLiteral) : isLiteral(each),
    );
  if (!isPrefilter) return '`prefilter` must be a list of literals, of three ASCII characters or more';
  for (const name of ['detect', 'fix'])
    if (typeof value[name] !== 'function') return `\`${name}\` must be a function`;
  for (const name of ['cue', 'isIdle'])
    if (value[name] !== undefined) return `\`${name}\` is for memfix itself`;
  return undefined;
}

function isOption(value: unknown): value is OptionSpec {
  if (!isRecord(value)) return false;
  const { type, default: usual } = value;
  const isOfType = type === 'integer' ? Number.isInteger(usual) : typeof usual === type;
  return OPTION_TYPES.some((each) => each === type) && isOfType && isLine(value['summary']);
}

function isLine(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && !hasControls(value);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The transform with its defaults, whose errors name the plugin and end nothing but its own look at a file. */
function guarded(plugin: string, transform: PluginTransform): Transform {
  const meta = withDefaults(transform.meta);
  const { prefilter } = transform;
  const guard = <T>(use: () => T): T => {
    try {
      return use();
    } catch (error) {
      if (isOurs(error)) throw error;
      throw new PluginFault(plugin, meta.id, error);
    }
  };
  return {
    meta,
    prefilter,
    ...(transform.skipsTests === true && { skipsTests: true }),
    detect: (module, options) => guard(() => [...transform.detect(module, options)].map(siteOf)),
    fix: (site, edit, module, options) =>
      guard(() => {
        const result: unknown = transform.fix(site, edit, module, options);
        if (isRecord(result) && EditBuilder.gave(result)) return result;
        throw new TypeError('`fix` must give what `edit.done`, `edit.refuse` or `edit.advise` gave');
      }),
  };
}

function siteOf(site: Site): Site {
  const { node, message } = site;
  if (node instanceof PyNode && isLine(message)) return site;
  throw new TypeError('`detect` must give sites with a `node` and a `message` of one line');
}

/** What goes through a transform and is none of its business. */
function isOurs(error: unknown): boolean {
  const isDeep = error instanceof RangeError && /call stack/i.test(error.message);
  const own = [Unfixable, NotInPieces, Overdue, LeftToOthers];
  return isDeep || own.some((kind) => error instanceof kind);
}

function withDefaults(meta: PluginMeta): TransformMeta {
  const { why, does, refuses = [], limits = [] } = meta.docs;
  return {
    group: 'default',
    options: {},
    requires: {},
    origin: [],
    example: '',
    evidence: {
      verdict: 'Not measured.',
      measurements: [],
      gpu: { notMeasured: 'it is a transform of your own' },
    },
    ...meta,
    docs: { why, does, refuses, limits },
  };
}

function refusal(plugin: string, reason: string): Failure {
  return new Failure(
    'A plugin cannot be used',
    `${plugin}: ${reason}`,
    'See docs/plugins.md for what a plugin is.',
  );
}
