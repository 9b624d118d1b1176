/**
 * Moves a stream's data to a sink, no faster than the sink accepts it. At most one chunk is buffered, and the sink is
 * never ended. The creators of the streams handle errors: if a source fails, `onEnd` is not called.
 */
import type { Readable, Writable } from 'node:stream';

export type PumpOptions = {
  /** Called before a chunk is moved. If it returns false, this chunk and all that follow are discarded. */
  onChunk(chunk: Buffer): boolean;
  /** Called after the source has ended. */
  onEnd(): void;
  /**
   * True defers each write to the next turn of the event loop, so that pending input is read first. A host may close
   * the connection right after its answer, before it has the whole request. A write to the closed connection would
   * discard an answer that has already arrived.
   */
  readsFirst?: boolean;
};

/** Starts moving chunks. */
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
  // A stream may end while its last chunk is deferred, so the end is deferred as well and keeps its order.
  source.on('data', onData).once('end', readsFirst ? () => setImmediate(onEnd) : onEnd);
  source.on('error', () => undefined);
  sink.on('drain', onDrain);
  source.once('close', () => sink.off('drain', onDrain));
};
