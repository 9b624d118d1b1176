/**
 * Event stream (SSE) of JSON-RPC messages. Messages are queued until the client reads them. A periodic comment keeps
 * proxies from closing a connection that is idle for a while.
 */
import { Readable } from 'node:stream';
import { chunksOf, type Piece } from '../base/json/json-text.ts';

export type EventStream = {
  body: Readable;
  /** Sends a message, passed as the pieces of its JSON. */
  send(pieces: readonly Piece[]): void;
  end(): void;
};

/** Interval of the keep-alive comments, in milliseconds. */
const aliveMs = 15_000;

/**
 * Replaces line breaks by spaces, because the data of an event may have none. JSON has line breaks only between its
 * tokens.
 */
const oneLine = (piece: string): string => piece.replaceAll(/[\r\n]/g, ' ');

/** Creates a stream and sends the first comment at once. */
export const createEvents = (): EventStream => {
  const waiting: (readonly string[])[] = [];
  let arrived = Promise.withResolvers<void>();
  let isEnded = false;
  const push = (pieces: readonly string[]): void => {
    waiting.push(pieces);
    arrived.resolve();
  };
  const comment = () => push([': at work\n\n']);
  comment(); // sent at once, so that the head of the answer goes out
  const alive = setInterval(comment, aliveMs);
  const take = async function* (): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        for (let pieces = waiting.shift(); pieces !== undefined; pieces = waiting.shift())
          yield* chunksOf(pieces);
        if (isEnded) return;
        await arrived.promise;
        arrived = Promise.withResolvers<void>();
      }
    } finally {
      clearInterval(alive);
    }
  };
  return {
    body: Readable.from(take(), { objectMode: false }),
    send: (pieces) =>
      push(['event: message\ndata: ', ...pieces.map((piece) => oneLine(String(piece))), '\n\n']),
    end() {
      isEnded = true;
      clearInterval(alive);
      arrived.resolve();
    },
  };
};
