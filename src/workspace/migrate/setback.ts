import { Failure } from '../failure.js';

/** Trouble that is none of the repository's: it stays as it was, and `resume` comes back to it. */
export class Setback extends Failure {}
