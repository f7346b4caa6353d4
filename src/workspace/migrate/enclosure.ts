import type { Enclose } from '../prove/child.js';
import { enclosed, type SANDBOX_CHOICES, sandboxFor, sandboxWords, type Walls } from './sandbox.js';
import { wallsOf } from './surroundings.js';
import { verifyEnvironment } from './verify-env.js';

/** What a campaign says about how its verify command runs. */
export interface VerifySetting {
  readonly sandbox: (typeof SANDBOX_CHOICES)[number];
  readonly network: boolean;
  /** Variables of the environment that it gets besides those that programs need. */
  readonly env: readonly string[];
  /** Paths that it sees though they are hidden, and that it may write to; `~` is home. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
}

/** How a verify command runs on this machine. */
export interface Enclosure {
  /** For people, as the end of a sentence. */
  readonly words: string;
  /** What to try where a command fails that works elsewhere. */
  readonly hint: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly enclose: Enclose;
}

/** A campaign, as far as it is about verifying. */
interface Verifying {
  readonly folder: string;
  readonly mirrors: string;
  readonly verify?: string;
  readonly verifying: VerifySetting;
}

export async function enclosureFor(
  { folder, mirrors, verify = '', verifying }: Verifying,
  all: Readonly<Record<string, string | undefined>>,
): Promise<Enclosure> {
  const env = verifyEnvironment(all, verifying.env);
  const walls = wallsOf(verifying, env, verify, [folder, mirrors]);
  const sandbox = await sandboxFor(verifying.sandbox, walls);
  const withPlaces = ({ readable, writable }: Pick<Walls, 'readable' | 'writable'>): Walls => ({
    ...walls,
    readable: [...walls.readable, ...readable],
    writable: [...walls.writable, ...writable],
  });
  const isForced = sandbox === 'none' && verifying.sandbox === 'auto';
  return {
    words: `${sandboxWords(sandbox, walls)}${isForced ? ': this machine has none that works' : ''}`,
    hint:
      sandbox === 'none'
        ? ''
        : ' It ran in a sandbox: `verify-network`, `verify-readable`, `verify-writable` and `verify-sandbox` in campaign.toml open it.',
    env,
    enclose: (command, { cwd, ...places }) => enclosed(sandbox, command, cwd, withPlaces(places)),
  };
}
