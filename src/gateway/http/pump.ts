/**
 * Moves a stream at the pace of its slower end. It holds a chunk at most, ends nothing by itself, and
 * leaves errors to those who made the streams: a source that breaks off simply brings no end.
 */
import type { Readable, Writable } from 'node:stream';

export type PumpOptions = {
  /** Before a chunk is moved; false leaves it and all that follows. */
  onChunk(chunk: Buffer): boolean;
  /** The source has brought everything. */
  onEnd(): void;
  /**
   * Lets what has come from elsewhere be read before each write. A host may answer and close before it has
   * everything; a write after that loses the answer, which may be here already.
   */
  readsFirst?: boolean;
};

/** Begins to move. */
export const pump = (source: Readable, sink: Writable, options: PumpOptions): void => {
  const { onChunk, onEnd, readsFirst = false } = options;
  const onDrain = (): void => {
    source.resume();
  };
  const write = (chunk: Buffer): void => {
    if (sink.destroyed || !onChunk(chunk)) source.off('data', onData).resume();
    else if (sink.write(chunk)) source.resume();
    else source.pause();
  };
  const onData = (chunk: Buffer): void => {
    if (readsFirst) {
      source.pause();
      setImmediate(write, chunk);
    } else write(chunk);
  };
  // A stream may end while its last chunk is held; what waits is done in its order.
  source.on('data', onData).once('end', readsFirst ? () => setImmediate(onEnd) : onEnd);
  source.on('error', () => undefined);
  sink.on('drain', onDrain);
  source.once('close', () => sink.off('drain', onDrain));
};
