/**
 * Undoes a start that failed half-way: releases everything that was made, even if a release fails. The caller gets the
 * reason of the failed start; failures to release are reported separately.
 */

/** Releases everything; returns the start's own error, to be thrown. */
export const undoStart = async (
  error: unknown,
  made: AsyncDisposableStack,
  report: (failure: unknown) => void,
): Promise<unknown> => {
  try {
    await made.disposeAsync();
  } catch (failure) {
    report(failure);
  }
  return error;
};
