/**
 * Lists of answers of which there may be a hundred thousand entries, each written by itself. They become bytes as they
 * come, so that an answer is not there as text, and while further ones are on their way.
 */
import { chunkChars, jsonPieces } from './json-text.ts';

/** Makes bytes of texts, with commas between them, and gives them to `take`. */
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

/** Collects the entries of a list. */
export const createJsonEntries = <Entry>() => {
  const bytes: Buffer[] = [];
  const joined = createJoined((piece) => bytes.push(piece));
  return {
    add: (text: string): void => joined.add(text),
    /** All that were added; like `jsonList` it stands where the entries would. */
    list(): Entry[] {
      joined.flush();
      return jsonPieces(['[', ...bytes, ']']);
    },
  };
};

/**
 * A list whose entries are given to `add` by `work`. It is there as soon as all of it is, or as much as is sent at once:
 * the rest is sent as it comes. What goes wrong before that is thrown, what goes wrong later breaks the answer off.
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
