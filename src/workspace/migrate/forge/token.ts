import { spawn } from 'node:child_process';
import { learnSecret } from '../../secrets.js';
import { type Host, type Hosts, nameOf } from './host.js';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The variables that may hold a host's token, the first one counts. One that is meant for a public server is given to
 * another only where the environment itself says so.
 */
export function tokenVariables(host: Host, env: Env): readonly string[] {
  const name = nameOf(host);
  const own = `MEMFIX_TOKEN_${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}`;
  if (host.kind === 'gitlab') {
    const isMeant = name === 'gitlab.com' || isNamed(name, env['GITLAB_HOST'], env['CI_SERVER_HOST']);
    return isMeant ? [own, 'GITLAB_TOKEN'] : [own];
  }
  const isMeant = isNamed(name, env['GH_HOST'], env['GITHUB_SERVER_URL']);
  if (name === 'github.com' || name.endsWith('.ghe.com') || isMeant) return [own, 'GH_TOKEN', 'GITHUB_TOKEN'];
  return [own, 'GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN'];
}

function isNamed(name: string, ...words: readonly (string | undefined)[]): boolean {
  return words.some((word) => word?.replace(/^https?:\/\//, '').replace(/\/.*$/, '') === name);
}

function variableOf(host: Host, env: Env): string | undefined {
  return tokenVariables(host, env).find((name) => (env[name] ?? '') !== '');
}

/** A host's token: from the environment, else from `gh`, else from git's credential helpers. */
export async function tokenFor(host: Host, env: Env, signal: AbortSignal): Promise<string | undefined> {
  const token = await tokenFrom(host, env, signal);
  learnSecret(token ?? '');
  return token;
}

async function tokenFrom(host: Host, env: Env, signal: AbortSignal): Promise<string | undefined> {
  const variable = variableOf(host, env);
  if (variable !== undefined) return env[variable]?.trim();
  const quiet = {
    ...env,
    GIT_TERMINAL_PROMPT: '0',
    GCM_INTERACTIVE: 'never',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    // The helpers of the user, none of a repository that happens to be around.
    GIT_DIR: '/dev/null',
  };
  if (host.kind === 'github') {
    const told = await outputOf(['gh', 'auth', 'token', '--hostname', nameOf(host)], '', quiet, signal);
    if (told?.trim()) return told.trim();
  }
  const { protocol, host: name } = new URL(host.base);
  const asked = `protocol=${protocol.slice(0, -1)}\nhost=${name}\n\n`;
  const filled = await outputOf(['git', 'credential', 'fill'], asked, quiet, signal);
  return /^password=(.+)$/m.exec(filled ?? '')?.[1];
}

/** What a program prints; nothing where it is missing or fails. */
function outputOf(
  [program = '', ...words]: readonly string[],
  input: string,
  env: Env,
  signal: AbortSignal,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, words, { env, signal, stdio: ['pipe', 'pipe', 'ignore'] });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    child.on('error', () => resolve(undefined));
    child.on('close', (status) => resolve(status === 0 ? text : undefined));
  });
}

const known = new WeakMap<Hosts, Env>();

/**
 * Lets git use the tokens of the environment, by their variables' names. For those hosts it asks no other helper: one
 * that keeps what it is told would keep the token.
 */
export function gitEnvironment(hosts: Hosts, env: Env): Env {
  const found = known.get(hosts) ?? withHelpers(hosts, env);
  known.set(hosts, found);
  return found;
}

function withHelpers(hosts: Hosts, env: Env): Env {
  const settings = [...new Set(hosts.values())].flatMap((host) => {
    const variable = variableOf(host, env);
    if (variable === undefined) return [];
    const user = host.kind === 'github' ? 'x-access-token' : 'oauth2';
    const answer = `!f() { test "$1" = get && printf 'username=${user}\\npassword=%s\\n' "$${variable}"; }; f`;
    const key = `credential.${new URL(host.base).origin}.helper`;
    return [
      [key, ''],
      [key, answer],
    ];
  });
  const already = Number(env['GIT_CONFIG_COUNT'] ?? 0);
  const numbered = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${already + index}`, key],
    [`GIT_CONFIG_VALUE_${already + index}`, value],
  ]);
  return { ...env, ...Object.fromEntries(numbered), GIT_CONFIG_COUNT: String(already + settings.length) };
}

const TOKENS =
  /^(?:MEMFIX_TOKEN_\w+|GH_TOKEN|GITHUB_TOKEN|GH_ENTERPRISE_TOKEN|GITHUB_ENTERPRISE_TOKEN|GITLAB_TOKEN)$/;

/** Whether a variable of this name holds a token of ours. */
export function isToken(name: string): boolean {
  return TOKENS.test(name);
}

/** For the code of repositories, which has no business with our tokens. */
export function withoutTokens(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isToken(name)));
}
