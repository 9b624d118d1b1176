/**
 * Returns true if a parser failed because its input nests too deeply. JavaScript and WebAssembly overflow the same
 * stack; a WebAssembly module that has a stack of its own accesses memory out of bounds instead.
 */
export const isOverflow = (error: unknown): boolean =>
  error instanceof RangeError || (error instanceof Error && error.name === 'RuntimeError');
