/**
 * What user code prints: it goes to the host's log line by line, up to so many bytes a second, and the
 * end of its standard error is kept, since that is where a dying process says why. The bound is by time
 * and not by run because output may arrive after the result of the run that made it.
 */
import { StringDecoder } from 'node:string_decoder';
import type { Log } from '#runtime/log.ts';

export type OutputStream = 'stdout' | 'stderr';

export type Output = {
  take(stream: OutputStream, chunk: Buffer): void;
  /** A new run begins: nothing is kept of the last. */
  reset(): void;
  /** The end of standard error since the run began. */
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
