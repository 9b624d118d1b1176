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

/** Replaces line ends by spaces: JSON has them only between its tokens, and the data of an event may have none. */
const oneLine = (piece: string): string => piece.replaceAll(/[\r\n]/g, ' ');

/** Creates a stream; it sends a first comment at once. */
export const createEvents = (): EventStream => {
  const waiting: (readonly string[])[] = [];
  let news = Promise.withResolvers<void>();
  let isEnded = false;
  const tell = (pieces: readonly string[]): void => {
    waiting.push(pieces);
    news.resolve();
  };
  const comment = () => tell([': at work\n\n']);
  comment(); // sent at once, so that the head of the answer goes out
  const alive = setInterval(comment, aliveMs);
  const take = async function* (): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        for (let pieces = waiting.shift(); pieces !== undefined; pieces = waiting.shift())
          yield* chunksOf(pieces);
        if (isEnded) return;
        await news.promise;
        news = Promise.withResolvers<void>();
      }
    } finally {
      clearInterval(alive);
    }
  };
  return {
    body: Readable.from(take(), { objectMode: false }),
    send: (pieces) =>
      tell(['event: message\ndata: ', ...pieces.map((piece) => oneLine(String(piece))), '\n\n']),
    end() {
      isEnded = true;
      clearInterval(alive);
      news.resolve();
    },
  };
};
