/** What the shim (`src/workspace/prove/sitecustomize.py`) wrote about one Python process. Sizes are bytes. */
export interface ProcessRecord {
  readonly pid: number;
  /** Made by `fork`, as the workers of a data loader are. */
  readonly forked: boolean;
  readonly rank: number | null;
  readonly python: string;
  readonly platform: string;
  readonly cpu: string | null;
  readonly seconds: number;
  /** False for a process that did not live to write its last record. */
  readonly final: boolean;
  readonly host: number | null;
  /** The version, where torch was imported. */
  readonly torch: string | null;
  readonly transformers: string | null;
  readonly devices: readonly DeviceRecord[];
  readonly steps: number;
  readonly samples: readonly Sample[];
  readonly autograd: { readonly peak: number; readonly tensors: number; readonly uncounted: number } | null;
  readonly syncs: number | null;
  readonly losses: readonly number[];
  /** The norm of all gradients before a step, of a run that reads them. */
  readonly gradients: readonly number[];
  /** What was trained and the buffers beside it, at the end of such a run. */
  readonly state: { readonly norms: readonly number[]; readonly digest: string } | null;
  /** By file of the copy, the lines that ran, of a run that looks. */
  readonly lines: Readonly<Record<string, readonly number[]>>;
  /** Files that were imported from the user's tree instead of the copy. */
  readonly strayed: readonly string[];
  /** Python files of the copy that it had to do with. */
  readonly loaded: readonly string[];
  /** What could not be measured, and why. */
  readonly errors: Readonly<Record<string, string>>;
}

export interface DeviceRecord {
  readonly index: number;
  readonly name: string;
  /** Tells a GPU from others that are also called number 0. */
  readonly id: string;
  readonly allocated: number;
  readonly reserved: number;
}

/** Taken right after an optimizer step. */
export interface Sample {
  readonly step: number;
  readonly seconds: number;
  readonly host: number | null;
  /** Allocated, by index of the device; null on one that nothing was put on. */
  readonly devices: readonly (number | null)[];
  readonly autograd: number | null;
}

/** How a run of the command ended. */
export type Ending =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'timed out'; readonly seconds: number };

/** One run of the command. */
export interface Trial {
  readonly ending: Ending;
  /** From start to end, where that was timed; else as long as its longest process took. */
  readonly seconds: number;
  readonly records: readonly ProcessRecord[];
  /** What `--metric` found in its output, in order. */
  readonly logged: readonly number[];
  /** The end of what it printed. */
  readonly tail: string;
}

/** A tree, and the runs of the command in it. */
export interface Variant {
  /** Runs that nothing slows down: memory and time. */
  readonly measured: readonly Trial[];
  /** Runs that count what costs time to count; the second is there to tell chance from change. */
  readonly counted: readonly Trial[];
}

export function succeeded({ ending }: Trial): boolean {
  return ending.kind === 'exited' && ending.code === 0;
}

export function endingWords(ending: Ending): string {
  if (ending.kind === 'exited') return String(ending.code);
  return ending.kind === 'killed' ? `killed (${ending.signal})` : `timed out (${ending.seconds} s)`;
}

/** Whether a run ended for want of memory, on a GPU or on the host, as far as one can see. */
export function ranOutOfMemory({ ending, tail }: Trial): boolean {
  if (succeeded({ ending } as Trial)) return false;
  return (
    /OutOfMemoryError|out of memory|std::bad_alloc|\bMemoryError\b/.test(tail) ||
    (ending.kind === 'killed' && ending.signal === 'SIGKILL')
  );
}

/** The record in a JSON text, or undefined where it is something else. */
export function recordOf(text: string): ProcessRecord | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (!isRecord(json) || json['version'] !== 1 || typeof json['pid'] !== 'number') return undefined;
  const losses = isRecord(json['losses']) ? json['losses']['values'] : undefined;
  const { samples, devices, strayed, loaded, errors } = json;
  if (!Array.isArray(samples) || !Array.isArray(devices) || !Array.isArray(losses)) return undefined;
  if (!Array.isArray(strayed) || !Array.isArray(loaded) || !isRecord(errors)) return undefined;
  const { gradients, state, lines } = json;
  if (!Array.isArray(gradients) || !isRecord(lines)) return undefined;
  const norms = isRecord(state) && Array.isArray(state['norms']) ? state['norms'].map(Number) : undefined;
  return {
    ...(json as unknown as ProcessRecord),
    cpu: textIn(json['cpu']),
    transformers: textIn(json['transformers']),
    losses: losses.map(Number),
    gradients: gradients.map(Number),
    state: isRecord(state) && norms !== undefined ? { norms, digest: `${state['digest']}` } : null,
  };
}

function textIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
