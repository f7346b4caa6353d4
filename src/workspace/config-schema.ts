import type { OptionSpec } from '../toolkit/contract.js';
import type { Entry } from './catalogue.js';
import { CONFIG_KEYS, type ConfigKey } from './config-keys.js';
import { FAILING } from './fail-on.js';
import { PLUGIN_ID, Vocabulary } from './selection.js';
import { TARGETS } from './targets.js';

type Schema = Readonly<Record<string, unknown>>;

const NAMES: Schema = { type: 'array', items: { $ref: '#/definitions/name' } };

/** The JSON schema of `memfix.toml` and of `[tool.memfix]`: editors complete and check with it. */
export function configSchema(entries: readonly Entry[]): Schema {
  const { names, ids } = new Vocabulary({ entries, metas: [] });
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: 'https://json.schemastore.org/memfix.json',
    title: 'memfix',
    description: 'The config of memfix: memfix.toml, or [tool.memfix] in pyproject.toml.',
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(
      Object.entries(CONFIG_KEYS).map(([key, { summary }]) => [
        key,
        { description: summary, ...schemaOf(key as ConfigKey, entries) },
      ]),
    ),
    // A plugin, named here or in the file that this one extends, has ids that are not known here.
    if: { not: { properties: { plugins: false, extend: false } } },
    else: {
      properties: Object.fromEntries(
        Object.keys(CONFIG_KEYS).flatMap((key) => {
          const strict = strictOf(key as ConfigKey, ids);
          return strict === undefined ? [] : [[key, strict]];
        }),
      ),
    },
    definitions: {
      known: { description: 'The id of a transform, a group or a symptom.', enum: names },
      name: { anyOf: [{ $ref: '#/definitions/known' }, { type: 'string', pattern: PLUGIN_ID.source }] },
      version: { type: 'string', pattern: '^[0-9]+(\\.[0-9]+){0,2}$' },
    },
  };
}

/** What a key may say where all ids are known. */
function strictOf(key: ConfigKey, ids: readonly string[]): Schema | undefined {
  const known = { items: { $ref: '#/definitions/known' } };
  switch (CONFIG_KEYS[key].kind) {
    case 'questions':
      return { items: { pattern: questionOf(`(?:${ids.join('|')})`) } };
    case 'names':
      return known;
    case 'names-by-pattern':
      return { additionalProperties: known };
    case 'options':
      return { propertyNames: { enum: ids } };
    default:
      return undefined;
  }
}

function schemaOf(key: ConfigKey, entries: readonly Entry[]): Schema {
  switch (CONFIG_KEYS[key].kind) {
    case 'boolean':
      return { type: 'boolean' };
    case 'string':
      return { type: 'string' };
    case 'strings':
      return { type: 'array', items: { type: 'string' } };
    case 'questions':
      return { type: 'array', items: { type: 'string', pattern: questionOf(PLUGIN_ID.source.slice(1, -1)) } };
    case 'failing':
      return { anyOf: [{ enum: FAILING }, { type: 'array', items: { enum: FAILING } }] };
    case 'names':
      return NAMES;
    case 'names-by-pattern':
      return { type: 'object', additionalProperties: NAMES };
    case 'versions':
      return table(Object.fromEntries(TARGETS.map((name) => [name, { $ref: '#/definitions/version' }])));
    case 'options':
      return {
        type: 'object',
        // Those of plugins, whose options are not known here.
        additionalProperties: { type: 'object' },
        properties: Object.fromEntries(
          entries.flatMap(({ id, aliases = [], options }) =>
            [id, ...aliases].map((name) => [
              name,
              table(
                Object.fromEntries(
                  Object.entries(options).map(([option, spec]) => [option, optionSchema(spec)]),
                ),
              ),
            ]),
          ),
        ),
      };
  }
}

function optionSchema({ type, default: usual, summary }: OptionSpec): Schema {
  return { description: summary, type, default: usual };
}

function table(properties: Schema): Schema {
  return { type: 'object', additionalProperties: false, properties };
}

/** `transform/kind(subject)@file:function`. */
function questionOf(transform: string): string {
  return `^${transform}/[a-z0-9-]+(?:\\(.+\\))?(?:@.+)?$`;
}
