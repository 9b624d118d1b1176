/**
 * Undoing a start that failed half-way: everything that was made is released, whatever fails on the way, and
 * what the caller is told is why the start failed. What could not be released is told beside that.
 */

/** Releases all; answers the start's own error, to be thrown. */
export const undoStart = async (
  error: unknown,
  made: AsyncDisposableStack,
  tell: (failure: unknown) => void,
): Promise<unknown> => {
  try {
    await made.disposeAsync();
  } catch (failure) {
    tell(failure);
  }
  return error;
};
