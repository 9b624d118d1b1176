/**
 * Lists in answers that may have a hundred thousand entries, each serialized separately. Each entry becomes bytes as
 * soon as it is added, so the answer never exists as one text, and sending starts before the last entry exists.
 */
import { chunkChars, jsonPieces } from './json-text.ts';

/** Joins texts with commas and passes them to `take` as bytes, in chunks. */
const createJoined = (take: (bytes: Buffer) => void) => {
  let held = '';
  let isFirst = true;
  return {
    add(text: string): void {
      held += isFirst ? text : `,${text}`;
      isFirst = false;
      if (held.length >= chunkChars) this.flush();
    },
    flush(): void {
      if (held !== '') take(Buffer.from(held));
      held = '';
    },
  };
};

/** Creates an object that collects the entries of a list. */
export const createJsonEntries = <Entry>() => {
  const bytes: Buffer[] = [];
  const joined = createJoined((piece) => bytes.push(piece));
  return {
    add: (text: string): void => joined.add(text),
    /** Returns the list of all added entries, as a placeholder that `writeJson` replaces by the entries. */
    list(): Entry[] {
      joined.flush();
      return jsonPieces(['[', ...bytes, ']']);
    },
  };
};

/**
 * Returns a list whose entries `work` passes to `add`. Resolves once the list is complete or its first chunk is full;
 * the rest is streamed. An error before that point is thrown; a later error aborts the answer.
 */
export const sendEntries = async <Entry>(
  work: (add: (text: string) => void) => Promise<void>,
): Promise<Entry[]> => {
  const waiting: Buffer[] = [];
  let isRead = true;
  const enough = Promise.withResolvers<void>();
  let news = Promise.withResolvers<void>();
  let end: { error?: unknown } | undefined;
  const joined = createJoined((bytes) => {
    if (isRead) waiting.push(bytes);
    news.resolve();
    enough.resolve();
  });
  const finish = async (): Promise<void> => {
    try {
      await work((text) => joined.add(text));
      joined.flush();
      end = {};
    } catch (error) {
      end = { error };
    }
    news.resolve();
  };
  const rest = async function* (): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        for (let bytes = waiting.shift(); bytes !== undefined; bytes = waiting.shift()) yield bytes;
        if (end !== undefined) break;
        await news.promise;
        news = Promise.withResolvers<void>();
      }
    } finally {
      isRead = false;
      waiting.length = 0;
    }
    if ('error' in end) throw end.error;
  };
  await Promise.race([finish(), enough.promise]);
  if (end === undefined) return jsonPieces(['[', rest(), ']']);
  if ('error' in end) throw end.error;
  return jsonPieces(['[', ...waiting, ']']);
};
