import { clip, printable } from '../report/cells.js';
import type { RepositoryRecord, StageName } from '../report/migrate/record.js';
import { outcomeLine } from '../report/migrate/render.js';
import { eraseLines } from '../report/terminal.js';
import type { Failure } from '../workspace/failure.js';
import type { Watcher } from '../workspace/migrate/driver.js';
import type { Repository } from '../workspace/migrate/source.js';
import type { Context } from './context.js';
import { widthOf } from './io.js';

/** A line for each repository as it ends; on a terminal, below them what is being done to which, as it changes. */
export class MigrateProgress implements Watcher {
  readonly #isLive: boolean;
  readonly #active = new Map<string, string>();
  #done = 0;
  #drawn = 0;
  hasPassed = false;

  constructor(
    private readonly context: Context,
    private readonly total: number,
  ) {
    const { stderr, env } = context.io;
    this.#isLive = stderr.isTTY === true && env['TERM'] !== 'dumb' && !context.isQuiet;
  }

  entered({ id, name }: Repository, stage: StageName): void {
    this.#active.set(id, `${printable(name)}: ${stage} …`);
    if (this.#isLive) this.#draw();
    else if (this.context.isVerbose) this.context.say(`${printable(name)}: ${stage} …`);
  }

  ended(record: RepositoryRecord): void {
    this.#end(record, outcomeLine(record, { paint: this.context.errorPaint }));
  }

  passed(repository: Repository, why: Failure): void {
    this.hasPassed = true;
    this.#end(repository, `${printable(repository.name)}: passed over: ${why.message}. ${why.next}`);
  }

  #end({ id }: Pick<Repository, 'id'>, line: string): void {
    this.#active.delete(id);
    this.#done++;
    this.tell(line);
  }

  /** A line that stays. */
  tell(text: string): void {
    this.clear();
    this.context.say(text);
    if (this.#isLive) this.#draw();
  }

  #draw(): void {
    this.clear();
    const { stderr } = this.context.io;
    const lines = [`${this.#done}/${this.total} repositories`, ...this.#active.values()];
    const width = widthOf(stderr) - 1;
    stderr.write(lines.map((line) => `${clip(line, width)}\n`).join(''));
    this.#drawn = lines.length;
  }

  clear(): void {
    if (this.#drawn > 0) this.context.io.stderr.write(eraseLines(this.#drawn));
    this.#drawn = 0;
  }
}
