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
};

/** Begins to move. */
export const pump = (source: Readable, sink: Writable, { onChunk, onEnd }: PumpOptions): void => {
  const onDrain = (): void => {
    source.resume();
  };
  const onData = (chunk: Buffer): void => {
    if (sink.destroyed || !onChunk(chunk)) {
      source.off('data', onData);
      return;
    }
    if (!sink.write(chunk)) source.pause();
  };
  source.on('data', onData).once('end', onEnd);
  source.on('error', () => undefined);
  sink.on('drain', onDrain);
  source.once('close', () => sink.off('drain', onDrain));
};
