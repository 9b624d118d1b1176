/** File system errors that are expected where processes share a folder. */

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

export const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT';
export const isThere = (error: unknown): boolean => codeOf(error) === 'EEXIST';
export const isDiskFull = (error: unknown): boolean =>
  codeOf(error) === 'ENOSPC' || codeOf(error) === 'EDQUOT';

/** Returns a handler for `catch` that yields undefined for an expected error and rethrows any other. */
export const unless =
  (isExpected: (error: unknown) => boolean) =>
  (error: unknown): undefined => {
    if (!isExpected(error)) throw error;
  };
