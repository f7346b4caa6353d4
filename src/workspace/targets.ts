/** The packages whose versions decide what a fix may write. */
export const PACKAGES = [
  'accelerate',
  'bitsandbytes',
  'diffusers',
  'peft',
  'torch',
  'transformers',
  'trl',
] as const;

/** The interpreter, where a file says which one runs: an old one has no new packages. */
export const PYTHON = 'python';

/** What `target-versions` and `--target-version` may name. */
export const TARGETS = [PYTHON, ...PACKAGES] as const;

export function isVersion(text: string): boolean {
  return /^\d+(?:\.\d+){0,2}$/.test(text);
}
