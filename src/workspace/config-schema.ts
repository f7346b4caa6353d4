import type { OptionSpec } from '../toolkit/contract.js';
import type { Entry } from './catalogue.js';
import { CONFIG_KEYS, type ConfigKey } from './config-keys.js';
import { PLUGIN_ID, Vocabulary } from './selection.js';
import { TARGETS } from './targets.js';

type Schema = Readonly<Record<string, unknown>>;

const NAMES: Schema = { type: 'array', items: { $ref: '#/definitions/name' } };

/** The JSON schema of `memfix.toml` and of `[tool.memfix]`: editors complete and check with it. */
export function configSchema(entries: readonly Entry[]): Schema {
  const { names } = new Vocabulary({ entries, metas: [] });
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
    definitions: {
      name: {
        description: 'The id of a transform, a group or a symptom; of a plugin, too.',
        anyOf: [{ enum: names }, { type: 'string', pattern: PLUGIN_ID.source }],
      },
      version: { type: 'string', pattern: '^[0-9]+(\\.[0-9]+){0,2}$' },
    },
  };
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
      return { type: 'array', items: { type: 'string', pattern: questionOf(entries) } };
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

/** `transform/kind(subject)@file`. */
function questionOf(entries: readonly Entry[]): string {
  const ids = entries.flatMap(({ id, aliases = [] }) => [id, ...aliases]);
  const ofPlugins = PLUGIN_ID.source.slice(1, -1);
  return `^(?:${[...ids, ofPlugins].join('|')})/[a-z0-9-]+(?:\\(.+\\))?(?:@.+)?$`;
}
