/** What making an image is given besides its inputs: minutes may pass, and it may be stopped. */
export type MakeOptions = {
  /** Told one line for a person at each stage that may take a while. */
  onProgress(line: string): void;
  /** Ends the work; what it has begun is cleaned up. */
  signal: AbortSignal;
};
