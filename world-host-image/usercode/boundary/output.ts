/**
 * Writes the output of user code to the host's log, line by line, up to a number of bytes per second. It also stores
 * the end of standard error, where a dying process prints the reason. The limit is per second and not per run, because
 * output may arrive after the result of the run that printed it.
 */
import { StringDecoder } from 'node:string_decoder';
import type { Log } from '#runtime/log.ts';

export type OutputStream = 'stdout' | 'stderr';

export type Output = {
  take(stream: OutputStream, chunk: Buffer): void;
  /** Begins a new run: drops the stored end of standard error. */
  reset(): void;
  /** Returns the end of what the process has written to standard error since the run began. */
  tail(): string;
};

const lineChars = 2_000;
const tailChars = 8_192;
const windowMs = 1_000;

export const createOutput = (log: Log, bytesPerSecond: number): Output => {
  const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  const unfinished = { stdout: '', stderr: '' };
  let left = bytesPerSecond;
  let windowBegan = performance.now();
  let tail = '';

  const print = (stream: OutputStream, line: string): void => {
    if (performance.now() - windowBegan >= windowMs) {
      windowBegan = performance.now();
      left = bytesPerSecond;
    }
    if (left <= 0 || line === '') return;
    left -= line.length;
    log.info({ stream, text: line.slice(0, lineChars) }, 'user code printed');
    if (left <= 0)
      log.warn({ stream, bytesPerSecond }, 'user code prints too much: output is dropped');
  };

  return {
    take(stream, chunk) {
      const text = decoders[stream].write(chunk);
      if (stream === 'stderr') tail = (tail + text).slice(-tailChars);
      const lines = (unfinished[stream] + text).split('\n');
      const last = lines.pop() ?? '';
      for (const line of lines) print(stream, line);
      const isLong = last.length > lineChars;
      if (isLong) print(stream, last);
      unfinished[stream] = isLong ? '' : last;
    },
    reset() {
      tail = '';
    },
    tail: () => tail,
  };
};
