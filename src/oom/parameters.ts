const NUMBER = String.raw`(\d[\d,]*(?:\.\d+)?)\s*(K|M|B|million|billion)?`;
/** `trainable params: 4,194,304`, `Parameter Count: 5257536`, `Params: 8.94M`; `7063542 parameters`, `124 M  Trainable params`. */
const NAMED = new RegExp(
  String.raw`\bparam(?:eter)?s?(?:[ _-]count)?(?: in total)?\s*[:=]\s*${NUMBER}\b`,
  'i',
);
const COUNTED = new RegExp(
  String.raw`(?<![\w.,])${NUMBER}\s+(?:trainable |learnable |model )?param(?:eter)?s\b`,
  'i',
);
const POWERS: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, b: 1e9 };
/** Fewer are those of something else, such as a schedule. */
const FEWEST = 1000;
const MOST = 1e13;

/** How many parameters a run trains, as its log says it: of several numbers the one that is said to be trained, else the largest. */
export class ParameterCount {
  #trained: number | undefined;
  #all: number | undefined;

  get value(): number | undefined {
    return this.#trained ?? this.#all;
  }

  read(line: string): void {
    if (line.length > 500 || !/param/i.test(line)) return;
    const found = NAMED.exec(line) ?? COUNTED.exec(line);
    if (found === null) return;
    const power = POWERS[found[2]?.charAt(0).toLowerCase() ?? ''] ?? 1;
    const count = Math.round(Number(found[1]?.replaceAll(',', '')) * power);
    if (!(count >= FEWEST && count <= MOST)) return;
    const isTrained = /\b(?:trainable|learnable|trained)\b/i.test(line) && !/non-?trainable/i.test(line);
    if (isTrained) this.#trained = count;
    else this.#all = Math.max(this.#all ?? 0, count);
  }
}
