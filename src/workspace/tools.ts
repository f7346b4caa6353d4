import type { Engine } from '../engine/engine.js';
import type { ParserOnDemand } from './parser-choice.js';
import type { Project } from './project.js';
import type { Reader } from './read.js';

/** The engine and the parser of a project, each loaded when it is first needed. */
export class Tools {
  #engine: Engine | undefined;

  constructor(
    private readonly project: Project,
    readonly parser: ParserOnDemand,
  ) {}

  reader(): Reader {
    return this.project.ground.reader();
  }

  /** Its parser may not be loaded yet. */
  get loaded(): Engine | undefined {
    return this.#engine;
  }

  async load(): Promise<Engine> {
    this.#engine ??= await this.project.engine(this.parser);
    return this.#engine;
  }

  /** With its parser. */
  async engine(): Promise<Engine> {
    await this.parser.load();
    return this.load();
  }
}
