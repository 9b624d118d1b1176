/**
 * Whether a parser failed because what it reads nests too deeply: JavaScript and WebAssembly overflow the same stack, and
 * a module with a stack of its own leaves its memory.
 */
export const isOverflow = (error: unknown): boolean =>
  error instanceof RangeError || (error instanceof Error && error.name === 'RuntimeError');
