/** Which memory ran out. */
export type Memory = 'GPU' | 'host';

/** Bytes, as far as a message tells them. */
export interface Figures {
  readonly tried?: number;
  /** Of the whole device. */
  readonly capacity?: number;
  readonly free?: number;
  /** Held by tensors. */
  readonly allocated?: number;
  /** Kept by the allocator for later, held by no tensor. */
  readonly unallocated?: number;
  /** Of MPS: held by others than tensors. */
  readonly besides?: number;
  /** The number of the device. */
  readonly device?: number;
  /** Held by other processes, where the message tells them from the one that ran out. */
  readonly others?: readonly { readonly process: number; readonly bytes: number }[];
}

export interface Complaint {
  readonly memory: Memory;
  /** Who could not get memory, for a title: `CUDA`, `cuBLAS`, `the host`. */
  readonly who: string;
  /** It was asked for by an allocator of tensors. */
  readonly isTensor: boolean;
  /** A process was killed, which mostly is for want of memory. */
  readonly isGuess: boolean;
}

type Reading = readonly [pattern: RegExp, memory: Memory, who: string | undefined];

/** The last three are what a shell says: alone, of a line of a script, of a job. */
const KILLED =
  /\bSignal 9 \(SIGKILL\)|\bexitcode\s*: -9\b|\bexit code -9\b|^(?:zsh: |npm (?:ERR!|error) )?[Kk]illed(?: {2,}\S.*)?$|: line \d+: +\d+ Killed\b|^\[\d+\][+-]? +(?:\d+ +)?[Kk]illed\b|^make: \*\*\* \[.*\] (?:Killed|Error 137)\b|\bsignal "?(?:SIGKILL|9)\b|\b(?:errno|exit(?:ed)?(?: with)?(?: code| status)?)[: (]+137\b/;

/** What numpy says of one array. */
export const ONE_ARRAY = /\bUnable to allocate \d[\d.]* \w+ for an array/;
/** Messages that stand for themselves wherever they are. */
const CERTAIN: readonly Reading[] = [
  [/\b(CUDA|HIP|XPU|NPU|MUSA|MLU) out of memory\. Tried to allocate/, 'GPU', undefined],
  [/\b(MPS) backend out of memory \(/, 'GPU', undefined],
  [/\b(CUDA|HIP) error: out of memory/, 'GPU', undefined],
  [/\b(CUBLAS|CUDNN|CUSOLVER|CUSPARSE|CUFFT|HIPBLAS|MIOPEN)_(?:STATUS_)?ALLOC_FAILED/, 'GPU', undefined],
  [/\b(CUDNN|CUBLAS)_STATUS_NOT_INITIALIZED/, 'GPU', undefined],
  [/\b(?:Cuda|HIP) failure (?:\d+ )?'out of memory'|\bFailed to CUDA (?:\w+ )?[cm]alloc/i, 'GPU', 'NCCL'],
  [/\bDefaultCPUAllocator: (?:can't allocate memory|not enough memory)/, 'host', undefined],
  [ONE_ARRAY, 'host', undefined],
  [/\bDataLoader worker .*killed by signal: (?:Killed|Bus error)/, 'host', undefined],
  [
    /\boom[-_]kill(?:er)?\b.*\b(?:event|task|process|step)|\bOut of memory: Killed process/i,
    'host',
    undefined,
  ],
  [KILLED, 'host', undefined],
];

/** Words that are an error only at the end of a traceback: anywhere else they may be advice. */
const AS_AN_ERROR: readonly Reading[] = [
  ...CERTAIN,
  [/\b(CUDA|HIP|XPU|NPU|MUSA|MLU) out of memory/, 'GPU', undefined],
  [/^(?:\w+\.)*(?:CUDA)?OutOfMemoryError\b/, 'GPU', 'CUDA'],
  [/^(?:\w+\.)*\w*MemoryError\b/, 'host', undefined],
];

const TENSOR = /out of memory\. Tried|backend out of memory|DefaultCPUAllocator/;

const NAMES: Readonly<Record<string, string>> = {
  CUBLAS: 'cuBLAS',
  CUDNN: 'cuDNN',
  CUSOLVER: 'cuSOLVER',
  CUSPARSE: 'cuSPARSE',
  CUFFT: 'cuFFT',
  HIPBLAS: 'hipBLAS',
  MIOPEN: 'MIOpen',
};

/** What a text says about memory that ran out; `isError` where it ends a traceback. */
export function complaintIn(text: string, isError: boolean): Complaint | undefined {
  for (const [pattern, memory, who] of isError ? AS_AN_ERROR : CERTAIN) {
    const found = pattern.exec(text);
    if (found === null) continue;
    const name = who ?? (found[1] === undefined ? 'the host' : (NAMES[found[1]] ?? found[1]));
    return { memory, who: name, isTensor: TENSOR.test(text), isGuess: pattern === KILLED };
  }
  return undefined;
}

/** Cheap, and true wherever `complaintIn` could find something. */
export function mayComplain(line: string): boolean {
  return /memory|ALLOC_FAILED|NOT_INITIALIZED|[cm]alloc|Unable to allocate|killed|oom|SIGKILL|signal|-9|137/i.test(
    line,
  );
}

const SIZE = String.raw`(\d+(?:\.\d*)?) (bytes|[KMGTP]i?B)\b`;
const PHRASES = {
  tried: [`(?:[Tt]ried|Unable) to allocate ${SIZE}`],
  // PyTorch 2.1 wrote "capacty".
  capacity: [`total capaci?ty of ${SIZE}`, `${SIZE} total capacity`, `max allowed: ${SIZE}`],
  free: [`of which ${SIZE} is free`, `${SIZE} free\\b`],
  allocated: [`${SIZE} is allocated by PyTorch`, `${SIZE} already allocated`, `MPS allocated: ${SIZE}`],
  unallocated: [`${SIZE} is reserved by PyTorch but unallocated`],
  besides: [`other allocations: ${SIZE}`],
  reserved: [`${SIZE} reserved in total`, `${SIZE} cached`],
} as const satisfies Readonly<Record<string, readonly string[]>>;

const UNITS = ['bytes', 'k', 'm', 'g', 't', 'p'];

export function figuresIn(message: string): Figures {
  const text = message.replace(/\s+/g, ' ');
  const figure = (name: keyof typeof PHRASES): number | undefined => {
    for (const phrase of PHRASES[name]) {
      const found = new RegExp(phrase).exec(text);
      if (found !== null) return bytes(Number(found[1]), found[2] ?? 'bytes');
    }
    return undefined;
  };
  const allocated = figure('allocated');
  const reserved = figure('reserved');
  const unallocated =
    figure('unallocated') ??
    (reserved === undefined || allocated === undefined ? undefined : Math.max(0, reserved - allocated));
  const device = /\b[GNX]PU (\d+)\b/.exec(text)?.[1];
  return present({
    tried: figure('tried'),
    capacity: figure('capacity'),
    free: figure('free'),
    allocated,
    unallocated,
    besides: figure('besides'),
    device: device === undefined ? undefined : Number(device),
    others: /\bthis process has\b/.test(text) ? othersIn(text) : undefined,
  });
}

/** What a process held when the kernel killed it. */
export function heldWhenKilled(message: string): number | undefined {
  const held = /\banon-rss:(\d+)kB/.exec(message)?.[1];
  return held === undefined ? undefined : Number(held) * 1024;
}

function othersIn(text: string): Figures['others'] {
  const all = [...text.matchAll(new RegExp(`\\bProcess (\\d+) has ${SIZE} memory in use`, 'g'))];
  return all.length === 0
    ? undefined
    : all.map(([, id, count, unit]) => ({
        process: Number(id),
        bytes: bytes(Number(count), unit ?? 'bytes'),
      }));
}

/** PyTorch divides by 1024 also where it writes `GB`. */
function bytes(count: number, unit: string): number {
  const power = UNITS.indexOf(unit === 'bytes' ? unit : unit.charAt(0).toLowerCase());
  return Math.round(count * 1024 ** power);
}

function present(figures: { readonly [K in keyof Figures]: Figures[K] | undefined }): Figures {
  return Object.fromEntries(Object.entries(figures).filter(([, value]) => value !== undefined));
}

/**
 * Memory enough for what was asked for is there, free or reserved, in pieces that are too small. Undefined where that cannot
 * be told.
 */
export function isFragmented(figures: Figures): boolean | undefined {
  const { tried, free = 0, allocated, unallocated } = figures;
  if (tried === undefined || unallocated === undefined) return undefined;
  if (outsideOf(figures) > (figures.capacity ?? Infinity) / 2) return false;
  return free + unallocated > tried && unallocated >= 0.05 * ((allocated ?? 0) + unallocated);
}

/** Bytes that are in use on the device and that the allocator does not know. */
export function outsideOf({ capacity, free, allocated, unallocated }: Figures): number {
  if (capacity === undefined || free === undefined || allocated === undefined || unallocated === undefined)
    return 0;
  return capacity - free - allocated - unallocated;
}

/** The versions of torch that word a message so; undefined where newer ones do as well. */
export function torchOf(message: string): { readonly from: string; readonly below: string } | undefined {
  if (!isOldWording(message)) return undefined;
  if (!message.startsWith('RuntimeError: CUDA out of memory')) return { from: '1.13', below: '2.1' };
  return { from: message.includes('reserved in total') ? '1.4' : '1.0', below: '1.13' };
}

/** torch before 2.1, by its words: `(GPU 0; 10.76 GiB total capacity; …)`. */
export function isOldWording(message: string): boolean {
  return /\([GN]PU \d+; [\d.]+ \w+ total capacity;/.test(message);
}

/** `2.50 GiB`, as PyTorch writes it. */
export function sizeOf(size: number): string {
  for (const [unit, power] of [
    ['TiB', 4],
    ['GiB', 3],
    ['MiB', 2],
    ['KiB', 1],
  ] as const) {
    if (size >= 1024 ** power) return `${(size / 1024 ** power).toFixed(2)} ${unit}`;
  }
  return `${size} bytes`;
}
