import { Failure } from '../failure.js';

/** Trouble that is none of the repository's: it stays as it was, and `resume` comes back to it. */
export class Setback extends Failure {}

/** Trouble that the repository has without the fixes, too: nothing can be said about them. */
export class Unverifiable extends Failure {}

/** Trouble with the commit that a repository is held to: only another commit helps. */
export class Outdated extends Failure {}
