import type { Engine } from '../engine/engine.js';
import { ParserOnDemand } from './parser-choice.js';
import type { Project } from './project.js';

/** The engine and the parser of a project, each loaded when it is first needed. */
export class Tools {
  readonly parser: ParserOnDemand;
  #engine: Engine | undefined;

  constructor(
    private readonly project: Project,
    parser: string | undefined,
    /** For few files. */
    isBrief = false,
  ) {
    this.parser = new ParserOnDemand(parser, isBrief);
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
