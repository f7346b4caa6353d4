import type { Numerics, Safety } from '../../../toolkit/contract.js';
import type { Offer } from '../offer.js';
import type { Base, Left, PullRequest, StageFailure, Status } from '../record.js';
import type { Answered, Tally } from '../tally.js';

/** What the page knows at once. What is in a repository comes with its `PageDetail`, read when it is looked at. */
export interface PageData {
  readonly version: 1;
  /** The campaign's name. */
  readonly title: string;
  readonly tool: string;
  /** When the page was made, as ISO 8601 has it. */
  readonly made: string;
  readonly isReview: boolean;
  readonly transforms: readonly PageTransform[];
  readonly repositories: readonly PageRepository[];
}

export interface PageTransform {
  readonly id: string;
  readonly summary: string;
  readonly safety: Safety;
  readonly numerics: Numerics;
}

export interface PageRepository {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly status: Status;
  /** Of the plan that the details are about. */
  readonly plan?: string;
  readonly base?: Base;
  readonly branch?: string;
  readonly commit?: string;
  /** Its branch is on the remote: there is nothing left to decide. */
  readonly isPushed: boolean;
  readonly proposed?: PullRequest;
  readonly checked?: number;
  readonly remaining?: number;
  readonly refused?: number;
  readonly skipped?: number;
  readonly bugs?: number;
  /** The transforms that something was offered of, whatever became of it. */
  readonly offered: readonly string[];
  readonly tally: Tally;
  readonly failure?: StageFailure;
}

export type PageVerdict = NonNullable<Answered['verdict']>;

export interface PageOffer extends Omit<Offer, 'hash' | 'key' | 'file' | 'likeness'> {
  readonly verdict?: PageVerdict;
}

export interface PageDetail {
  readonly offers: readonly PageOffer[];
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  readonly bugs: readonly string[];
  /** The first findings that stay. */
  readonly left: readonly Left[];
}
