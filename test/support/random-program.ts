/**
 * A small function `f(x)` that writes constants to `x`, each another one, and reads it with `r(number, x)`. All that it does
 * depends on `d()`, which decides anew each time it is asked.
 */
export function program(seed: number): string {
  return new Writer(seed).function();
}

/** What the statements at a place may do. */
interface Place {
  readonly depth: number;
  readonly inLoop: boolean;
  /** An error goes to code that may read, so each state has to get there. */
  readonly mayRaise: boolean;
}

class Writer {
  #state: number;
  /** Constants have four digits, reads fewer. */
  #constant = 1000;
  #site = 1;
  /** How many compound statements it may still have. */
  #left: number;

  constructor(seed: number) {
    this.#state = seed + 1;
    this.#left = 1 + (seed % 5);
  }

  function(): string {
    const body = this.#suite({ depth: 0, inLoop: false, mayRaise: false });
    return ['def f(x):', ...indented([...body, this.#read()])].join('\n').concat('\n');
  }

  /** Of mulberry32. */
  #random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.#random() * choices.length)] as T;
  }

  #may(chance = 0.5): boolean {
    return this.#random() < chance;
  }

  #number(): number {
    return this.#constant++;
  }

  #read(): string {
    return `r(${this.#site++}, x)`;
  }

  #suite(place: Place): readonly string[] {
    const lines: string[] = place.mayRaise ? ['boom()'] : [];
    const count = this.#pick([1, 2, 2, 3]);
    for (let at = 0; at < count; at++) {
      lines.push(...this.#statement(place));
      if (place.mayRaise) lines.push('boom()');
    }
    if (this.#may(0.15)) lines.push(this.#pick(['return', 'raise E()', ...(place.inLoop ? JUMPS : [])]));
    return lines;
  }

  #statement(place: Place): readonly string[] {
    if (place.depth === 3 || this.#left === 0 || this.#may(0.45)) return this.#simple();
    this.#left--;
    const inner = { ...place, depth: place.depth + 1 };
    switch (this.#pick(['if', 'if', 'for', 'while', 'try', 'try', 'with', 'match'])) {
      case 'if':
        return this.#if(inner);
      case 'for':
        return this.#for(inner);
      case 'while':
        return this.#while(inner);
      case 'try':
        return this.#try(inner);
      case 'with':
        return this.#with(inner);
      default:
        return this.#match(inner);
    }
  }

  #simple(): readonly string[] {
    const number = this.#number();
    return [
      this.#pick([
        `x = ${number}`,
        `x = ${number}`,
        `x = ${number}`,
        `y = x = ${number}`,
        `x, y = ${number}, 0`,
        `y: int = (x := ${number}) if d() else 0`,
        `y = d() and t(x := ${number})`,
        `y = [t(x := ${number}), ${this.#read()}]`,
        `y = [t(x := ${number}) for _ in it(0)]`,
        `y = [${this.#read()} for _ in it(0) if t(x := ${number})]`,
        `y = [${this.#read()} and t(x := ${number}) for _ in it(0)]`,
        `y = ${this.#read()} if t(x := ${number}) else ${this.#read()}`,
        `y = sum(${this.#read()} for _ in it(0))`,
        `def g(a=${this.#read()}): pass`,
        `x = t(${this.#read()}) * 0 + ${number}`,
        this.#read(),
        this.#read(),
        this.#read(),
      ]),
    ];
  }

  #condition(depth = 0): string {
    const shape = depth === 2 ? 'd' : this.#pick(['d', 'd', 'd', 'walrus', 'read', 'and', 'or', 'not']);
    switch (shape) {
      case 'walrus':
        return `t(x := ${this.#number()})`;
      case 'read':
        return this.#read();
      case 'and':
      case 'or':
        return `(${this.#condition(depth + 1)} ${shape} ${this.#condition(depth + 1)})`;
      case 'not':
        return `not ${this.#condition(depth + 1)}`;
      default:
        return 'd()';
    }
  }

  #if(place: Place): readonly string[] {
    const lines = [`if ${this.#condition()}:`, ...this.#block(place)];
    if (this.#may(0.3)) lines.push(`elif ${this.#condition()}:`, ...this.#block(place));
    if (this.#may()) lines.push('else:', ...this.#block(place));
    return lines;
  }

  #for(place: Place): readonly string[] {
    const target = this.#pick(['x', '_', 'x, y']);
    const number = this.#number();
    const iterable = target === 'x, y' ? `((${number}, i) for i in it(0))` : `it(${number})`;
    return [
      `for ${target} in ${iterable}:`,
      ...this.#block({ ...place, inLoop: true }),
      ...(this.#may(0.3) ? ['else:', ...this.#block(place)] : []),
    ];
  }

  #while(place: Place): readonly string[] {
    const body = [`again(${this.#number()})`, ...this.#suite({ ...place, inLoop: true })];
    if (this.#may(0.3)) return ['while True:', ...indented([`if ${this.#condition()}: break`, ...body])];
    return [
      `while ${this.#condition()}:`,
      ...indented(body),
      ...(this.#may(0.3) ? ['else:', ...this.#block(place)] : []),
    ];
  }

  #try(place: Place): readonly string[] {
    const hasFinally = this.#may(0.4);
    const handlers = this.#pick(hasFinally ? [[], ['E'], ['E', 'F']] : [['E'], ['E', 'F'], ['(E, F, G)']]);
    const inner = { ...place, mayRaise: place.mayRaise || hasFinally };
    const lines = ['try:', ...this.#block({ ...place, mayRaise: true })];
    for (const error of handlers) lines.push(`except ${error}:`, ...this.#block(inner));
    if (handlers.length > 0 && this.#may(0.3)) lines.push('else:', ...this.#block(inner));
    if (hasFinally) lines.push('finally:', ...this.#block(place));
    return lines;
  }

  #with(place: Place): readonly string[] {
    const number = this.#number();
    return this.#may(0.6)
      ? [`with cm(${number}) as x:`, ...this.#block(place)]
      : ['with suppress(E, F, G):', ...this.#block({ ...place, mayRaise: true })];
  }

  #match(place: Place): readonly string[] {
    const number = this.#number();
    const lines = ['case 0:', ...this.#block(place)];
    if (this.#may()) lines.push('case x if d():', ...this.#block(place));
    if (this.#may()) lines.push(this.#may() ? 'case x:' : 'case _:', ...this.#block(place));
    return [`match ${number} if d() else 0:`, ...indented(lines)];
  }

  #block(place: Place): readonly string[] {
    return indented(this.#suite(place));
  }
}

const JUMPS = ['break', 'continue'];

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `    ${line}`);
}
