import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { redactOutput } from '../../src/workspace/prove/output.js';
import {
  isSecretName,
  learnPassword,
  learnSecrets,
  redacted,
  redactedValue,
} from '../../src/workspace/secrets.js';
import { processorTime } from '../support/processor-time.js';
import { folderWith } from './folders.js';

test('a variable is secret by its name', () => {
  const secret = [
    ...['GH_TOKEN', 'GITHUB_TOKEN', 'MEMFIX_TOKEN_GIT_EXAMPLE_ORG', 'HF_TOKEN', 'PGPASSWORD', 'MYSQL_PWD'],
    ...[
      'AWS_SECRET_ACCESS_KEY',
      'OPENAI_API_KEY',
      'npm_config__auth',
      'GPG_PASSPHRASE',
      'DB_PASS',
      'APP_JWT',
    ],
    ...['AZURE_CREDENTIALS', 'DEPLOY_KEY', 'VAULT_SECRET_ID', 'GITLAB_PAT', 'REDISCLI_AUTH'],
  ];
  const open = [
    ...['PATH', 'PWD', 'OLDPWD', 'HOME', 'SSH_AUTH_SOCK', 'TOKENIZERS_PARALLELISM', 'KEYBOARD', 'XAUTHORITY'],
    ...[
      'SONAR_PROJECT_KEY',
      'CACHE_KEY',
      'GIT_CONFIG_KEY_0',
      'GIT_AUTHOR_NAME',
      'KEY_FILE',
      'MONKEY',
      'PATTERN',
    ],
  ];
  expect(secret.filter((name) => !isSecretName(name))).toEqual([]);
  expect(open.filter(isSecretName)).toEqual([]);
});

test('what is known to be secret is hidden in every spelling, and ordinary words stay', () => {
  const folder = folderWith({ 'key.pem': '' });
  learnSecrets({
    A_TOKEN: 'abc"def&42/ü',
    PASSWORD: 'postgres',
    PIN_SECRET: '1234',
    KEY: join(folder, 'key.pem'),
    ADDRESS: 'redis://user:hunter%2F22@cache:6379/0',
    REMOTE: 'https://ghp_12345@github.com/x',
    GIT_CONFIG_VALUE_0: 'AUTHORIZATION: basic eDphYmNkZWY=',
    SIGNING_KEY: '-----BEGIN-----\nfirst line of it\nsecond line of it\n-----END-----\n',
  });
  for (const [text, clean] of [
    ['say abc"def&42/ü twice: abc"def&42/ü', 'say *** twice: ***'],
    [JSON.stringify({ a: 'abc"def&42/ü' }), '{"a":"***"}'],
    ['<b>abc&quot;def&amp;42/ü</b>', '<b>***</b>'],
    [`?q=${encodeURIComponent('abc"def&42/ü')}`, '?q=***'],
    ['hunter%2F22 or hunter/22', '*** or ***'],
    ['ghp_12345', '***'],
    ['eDphYmNkZWY=', '***'],
    ['a first line of it b', 'a *** b'],
    ['postgres 1234', 'postgres 1234'],
    [join(folder, 'key.pem'), join(folder, 'key.pem')],
    ['fatal: https://me:pw@host/x and ssh://git@host/y', 'fatal: https://host/x and ssh://host/y'],
  ])
    expect(redacted(text ?? '')).toBe(clean);
});

test('what names a thing stays, so that it is found again', () => {
  learnPassword('https://me:acme-training-7@host');
  const record = {
    ...{ id: 'acme-training-7-0a', url: 'https://host/acme-training-7', commits: ['acme-training-7'] },
    failure: { title: 'It is acme-training-7', lines: ['acme-training-7', 1, null] },
  };
  expect(redactedValue(record)).toEqual({
    ...record,
    failure: { title: 'It is ***', lines: ['***', 1, null] },
  });
});

test('hiding takes time in proportion to the text', () => {
  const taken = processorTime();
  for (const part of ['a.', '://', 'x://a', '@', ' ']) redacted(part.repeat(500_000));
  expect(taken()).toBeLessThan(10_000);
});

test('what a command printed is hidden in its log, however long', () => {
  learnSecrets({ LOG_TOKEN: 'logged-token-1' });
  const filler = `${'x'.repeat(1023)}\n`.repeat(4096);
  const log = folderWith({ log: `${filler}logged-token-1\n${'y'.repeat(9_000_000)}\nlogged-token-1` });
  redactOutput(join(log, 'log'));
  const text = readFileSync(join(log, 'log'), 'utf8');
  expect(text).toBe(`${filler}***\n${'y'.repeat(9_000_000)}\n***`);
  redactOutput(join(log, 'absent'));
});
