const TOKEN = /#.*|\\.|"""|'''|["']|[([{]|[)\]}]/g;

/** Follows Python's brackets, strings and line joining, to tell where a statement begins. */
export class LogicalLines {
  #depth = 0;
  #quote: string | undefined;
  #isJoined = false;

  get isAtStart(): boolean {
    return this.#depth === 0 && this.#quote === undefined && !this.#isJoined;
  }

  read(line: string): void {
    for (const [token] of line.matchAll(TOKEN)) {
      if (this.#quote !== undefined) {
        if (token.startsWith(this.#quote)) this.#quote = undefined;
        else if (token.startsWith('#')) this.#readRest(token.slice(1));
      } else if (token.startsWith('#')) break;
      else if (/^["']/.test(token)) this.#quote = token;
      else if (/[([{]/.test(token)) this.#depth++;
      else if (/[)\]}]/.test(token)) this.#depth = Math.max(0, this.#depth - 1);
    }
    this.#isJoined = line.endsWith('\\') && this.#quote === undefined;
    // A string in single quotes ends with its line, unless a backslash joins it.
    if (this.#quote?.length === 1 && !line.endsWith('\\')) this.#quote = undefined;
  }

  /** What follows a `#` in a string is still looked at. */
  #readRest(rest: string): void {
    const joined = this.#isJoined;
    this.read(rest);
    this.#isJoined = joined;
  }
}
