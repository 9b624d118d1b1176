/**
 * Undoes a start that failed half-way: releases everything that the start made, even if a release fails. The caller
 * gets the reason of the failed start; failures of releases are reported separately.
 */

/** Releases everything that the start made; returns the start's own error, which the caller then throws. */
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
