/**
 * The three questions about code that handles tensors: what is a value, what becomes of it, what does a function do.
 * An answer is computed when it is asked for. `yes` and every kind but `unknown` are proven by the code, the library or what is
 * stated; a name alone is never enough.
 */
export { effectsOf } from './effects.js';
export { usesOf } from './uses.js';
export { type Value, valueOf } from './value.js';
