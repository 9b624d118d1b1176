/** Options for making an image apart from its inputs. It may take minutes, and may be interrupted. */
export type MakeOptions = {
  /** Called with a line of text for people at each stage that may take a while. */
  onProgress(line: string): void;
  /** Interrupts the work, which then cleans up after itself. */
  signal: AbortSignal;
};
