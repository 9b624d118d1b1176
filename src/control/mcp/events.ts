/**
 * An event stream (SSE) of messages: what is sent waits until the client takes it, and a comment now and then keeps
 * proxies from ending a connection on which nothing happens for a while.
 */
import { Readable } from 'node:stream';
import { chunksOf, type Piece } from '../base/json/json-text.ts';

export type EventStream = {
  body: Readable;
  /** Sends a message, given as the pieces of its JSON. */
  send(pieces: readonly Piece[]): void;
  end(): void;
};

/** How often something is sent, in milliseconds. */
const aliveMs = 15_000;

/** JSON has ends of lines between its words only, and an event has none within its data. */
const oneLine = (piece: string): string => piece.replaceAll(/[\r\n]/g, ' ');

/** Begins one. */
export const createEvents = (): EventStream => {
  const waiting: (readonly string[])[] = [];
  let news = Promise.withResolvers<void>();
  let isEnded = false;
  const tell = (pieces: readonly string[]): void => {
    waiting.push(pieces);
    news.resolve();
  };
  const comment = () => tell([': at work\n\n']);
  comment(); // so that the head of the answer is on its way
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
