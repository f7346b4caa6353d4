import { readdirSync } from 'node:fs';
import { codeOf } from '../workspace/failure.js';

/** What other tools would call a config of ours. */
const LIKE_A_CONFIG =
  /^\.memfix(?:rc|ignore)?(?:\.(?:toml|json|ya?ml|[cm]?[jt]s))?$|^memfix\.(?:json|ya?ml|config\.[cm]?[jt]s)$/;

/** Files in a folder that look like a config of memfix, and are none. */
export function unreadConfigs(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => LIKE_A_CONFIG.test(name));
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return [];
  }
}
