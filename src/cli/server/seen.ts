import type { Finding, Scan } from '../../engine/outcome.js';
import type { Range } from './protocol.js';
import type { OpenText, Sheet } from './sheet.js';
import { isTold } from './words.js';
import type { Workspace } from './workspaces.js';

/** What was found in a program as the editor had it. */
export class Seen {
  readonly findings: readonly Finding[];

  constructor(
    readonly sheet: Sheet,
    readonly space: Workspace,
    readonly scan: Scan | undefined,
  ) {
    this.findings = scan?.findings.filter(isTold) ?? [];
  }

  /** The versions of the texts it was found in. */
  get version(): string {
    return versionOf(this.sheet.texts);
  }

  placeOf({ span }: Finding): { readonly open: OpenText; readonly range: Range } | undefined {
    return this.sheet.placeOf(span);
  }
}

export function versionOf(texts: readonly OpenText[]): string {
  return texts.map(({ uri, version }) => `${uri} ${version}`).join('\n');
}
