export const FLOAT_DTYPES: ReadonlySet<string> = new Set(
  ['bfloat16', 'double', 'float', 'float16', 'float32', 'float64', 'half'].map((name) => `torch.${name}`),
);
/** Also as the types of tensors that they were before: `torch.LongTensor`. */
export const INTEGER_DTYPES: ReadonlySet<string> = new Set([
  ...['bool', 'int', 'int16', 'int32', 'int64', 'int8', 'long', 'short', 'uint8'].map(
    (name) => `torch.${name}`,
  ),
  ...['Bool', 'Byte', 'Char', 'Int', 'Long', 'Short'].flatMap((name) => [
    `torch.${name}Tensor`,
    `torch.cuda.${name}Tensor`,
  ]),
]);

const NUMPY_DTYPE =
  /^numpy\.(?:u?int(?:8|16|32|64|c|p|_)?|float(?:16|32|64|128|_)?|complex(?:64|128|_)?|bool_?|double|half|single)$/;

/** A type of numbers: it holds nothing. */
export function isDtype(path: string): boolean {
  return FLOAT_DTYPES.has(path) || INTEGER_DTYPES.has(path) || NUMPY_DTYPE.test(path);
}
