import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { Arguments } from '../src/cli/arguments.js';
import { isCommand } from '../src/cli/commands.js';
import { root } from '../src/dev/project.js';

type Value = string | number | boolean | null | readonly Value[] | { readonly [key: string]: Value };

function documentsIn(name: string): readonly Value[] {
  const found = parseAllDocuments(readFileSync(join(root, 'docs', name), 'utf8'), { merge: true });
  if (!Array.isArray(found)) throw new Error(`${name} is empty`);
  expect(found.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
  return found.map((document) => document.toJS());
}

/** What is at this path of keys. */
function at(value: Value | undefined, ...keys: readonly (string | number)[]): Value | undefined {
  return keys.reduce<Value | undefined>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null
        ? (inner as Readonly<Record<string, Value>>)[key]
        : undefined,
    value,
  );
}

/** That memfix takes these words. */
function isUnderstood(words: Value | undefined): boolean {
  if (!Array.isArray(words)) return false;
  const [command = '', ...rest] = words.map(String);
  if (!isCommand(command)) return false;
  return Arguments.parse(command, rest).text('queue') === 'env:QUEUE_URL';
}

describe('the files to begin with', () => {
  test('start workers with Docker Compose', () => {
    const [compose] = documentsIn('migrate-compose.yaml');
    for (const service of ['worker', 'campaign'])
      expect(isUnderstood(at(compose, 'services', service, 'command')), service).toBe(true);
    expect(at(compose, 'services', 'worker', 'environment', 'QUEUE_URL')).toMatch(/^redis:/);
    expect(at(compose, 'services', 'worker', 'depends_on', 'queue', 'condition')).toBe('service_healthy');
  });

  test('start workers on Kubernetes', () => {
    const all = documentsIn('migrate-kubernetes.yaml');
    expect(all.map((each) => at(each, 'kind'))).toEqual(['Service', 'StatefulSet', 'Deployment', 'Job']);
    const [, , workers, shards] = all.map((each) => at(each, 'spec', 'template', 'spec', 'containers', 0));
    expect(isUnderstood(at(workers, 'args'))).toBe(true);
    const line = String(at(shards, 'args', 0));
    const [, command = '', rest = ''] =
      /^exec memfix (\w+) (.+) --shard "\$\(\(JOB_COMPLETION_INDEX \+ 1\)\)\/8"$/.exec(line) ?? [];
    if (!isCommand(command)) throw new Error(`${line} is no command of memfix`);
    expect(Arguments.parse(command, rest.split(' ')).flag('push')).toBe(true);
    expect([at(all[3], 'spec', 'completions'), at(all[3], 'spec', 'completionMode')]).toEqual([8, 'Indexed']);
  });
});
