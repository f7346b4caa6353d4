import { Failure } from '../../failure.js';
import type { Forge } from './forge.js';
import { type Host, type Hosts, isPlain, nameOf, type Project, projectAt, remoteParts } from './host.js';
import type { Pace } from './pace.js';
import { fetchBy } from './proxy.js';
import { tokenFor, tokenVariables } from './token.js';

export interface Setting {
  readonly hosts: Hosts;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Seconds that an answer may take. */
  readonly timeout: number;
  readonly pace?: Pace;
  /** That nothing is asked for so many seconds, and why. */
  waits(why: string, seconds: number): void;
}

/** The forges of a campaign. Each is met once, when it is first needed. */
export class Forges {
  readonly #met = new Map<string, Promise<Forge>>();
  readonly #tokens = new Map<string, Promise<string | undefined>>();

  constructor(private readonly setting: Setting) {}

  projectOf(url: string): Project {
    return projectAt(url, this.setting.hosts) ?? nowhere(url);
  }

  at(host: Host): Promise<Forge> {
    const met = this.#met.get(host.base) ?? this.#meet(host);
    this.#met.set(host.base, met);
    return met;
  }

  async #meet(host: Host): Promise<Forge> {
    const { env, signal, timeout, waits } = this.setting;
    const token = await this.#token(host);
    const line = {
      ...{ host, token, env, signal, timeout, fetch: await fetchBy(env) },
      waits: (seconds: number) => waits(nameOf(host), seconds),
    };
    return host.kind === 'github'
      ? (await import('./github.js')).gitHub(line)
      : (await import('./gitlab.js')).gitLab(line);
  }

  #token(host: Host): Promise<string | undefined> {
    if (isPlain(host)) {
      throw new Failure(
        'A token would be readable on its way',
        `${host.base} is not encrypted`,
        'Give its address with https://.',
      );
    }
    const { env, signal } = this.setting;
    const asked = this.#tokens.get(host.base) ?? tokenFor(host, env, signal);
    this.#tokens.set(host.base, asked);
    return asked;
  }

  /** That there is a forge and a token for each of these: once, rather than as the same failure of every repository. */
  async check(urls: readonly string[]): Promise<void> {
    const hosts = new Map(urls.map((url) => this.projectOf(url)).map(({ host }) => [host.base, host]));
    for (const host of hosts.values()) {
      if ((await this.#token(host)) === undefined) throw noToken(host, this.setting.env);
    }
  }

  /** Waits until one more pull request may be opened. */
  async turn(id: string): Promise<void> {
    const { pace, signal, waits } = this.setting;
    await pace?.turn(id, signal, (seconds) => waits('the pace', seconds));
  }
}

function nowhere(url: string): never {
  const host = remoteParts(url)?.host;
  if (host === undefined) {
    throw new Failure(
      'There is nowhere to open a pull request',
      `${url} is on no forge`,
      'Leave it out with `--repos`, or leave out `--pr`.',
    );
  }
  throw new Failure(
    'The forge is not known',
    `campaign.toml does not say whether ${host} runs GitHub or GitLab`,
    `Add a table \`[forges]\` with \`"${host}" = "gitlab"\` or \`"github"\`.`,
  );
}

function noToken(host: Host, env: Setting['env']): Failure {
  const name = nameOf(host);
  const [first = '', ...others] = tokenVariables(host, env).toReversed();
  const also = others.length === 0 ? '' : ` (or ${others.join(', ')})`;
  const login = host.kind === 'github' ? `, run \`gh auth login --hostname ${name}\`` : '';
  return new Failure(
    `There is no token for ${name}`,
    'none is in the environment, and no helper knows one',
    `Set ${first}${also}${login}, or store one in git's credential helper.`,
  );
}
