import type { PullRequest } from '../../../report/migrate/record.js';
import type { Host, Project } from './host.js';

/** Which repositories of a forge: `github:org/acme`. */
export interface Source {
  readonly host: Host;
  readonly by: 'org' | 'user' | 'topic' | 'search' | 'group';
  readonly value: string;
  /** As the user spells it. */
  readonly word: string;
}

/** A repository that a source leads to. */
export interface Listed {
  readonly https: string;
  readonly ssh: string;
  readonly isArchived: boolean;
  readonly isFork: boolean;
  /** Without a commit, or without a repository at all. */
  readonly isEmpty: boolean;
}

/** What is to be opened. */
export interface Proposal {
  readonly branch: string;
  /** What the branch leads to. */
  readonly commit: string;
  /** The branch it is to be merged into; the default one where nothing is known. */
  readonly into: string | null;
  readonly title: string;
  readonly body: string;
  readonly isDraft: boolean;
  readonly labels: readonly string[];
  readonly reviewers: readonly string[];
}

/** A forge with our credentials. What it does can be asked for again after any trouble. */
export interface Forge {
  /** The longest that it takes, in characters. */
  readonly limits: { readonly title: number; readonly body: number };
  list(source: Source): Promise<readonly Listed[]>;
  /** The request for a branch that is open, or that was closed or merged with this very commit. */
  find(project: Project, branch: string, commit: string): Promise<PullRequest | undefined>;
  /** A request that may have arrived is looked for before it is sent again. */
  open(project: Project, proposal: Proposal): Promise<PullRequest>;
  /** Adds the labels and reviewers that are wanted. */
  dress(project: Project, number: number, wishes: Pick<Proposal, 'labels' | 'reviewers'>): Promise<void>;
  look(project: Project, number: number): Promise<PullRequest>;
}
