import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createJsonEntries, sendEntries } from './json-entries.ts';
import { chunkChars, jsonBody, writeJson } from './json-text.ts';

const large = 'x'.repeat(chunkChars);
const counts = [0, 1, 2, 99, 3_000];
const listOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ index, text: 'é},{"[' }));
const bodyText = (body: string | Readable): Promise<string> | string =>
  typeof body === 'string' ? body : text(body);

describe('createJsonEntries', () => {
  it.each(counts)(
    'returns a list of all %i entries, in the order in which they were added',
    (count) => {
      const entries = createJsonEntries<object>();
      for (const entry of listOf(count)) entries.add(JSON.stringify(entry));
      const written = writeJson({ list: entries.list(), after: 1 }).join('');
      expect(JSON.parse(written)).toEqual({ list: listOf(count), after: 1 });
    },
  );
});

describe('sendEntries', () => {
  it.each(counts)(
    'sends a list of all %i entries, in the order in which they were added',
    async (count) => {
      const list = await sendEntries<object>(async (add) => {
        for (const entry of listOf(count)) {
          add(JSON.stringify(entry));
          if (entry.index % 100 === 0) await turn();
        }
      });
      const written = await bodyText(jsonBody({ before: 0, list, after: 1 }));
      expect(JSON.parse(written)).toEqual({ before: 0, list: listOf(count), after: 1 });
    },
  );

  it('writes a short list as one text', async () => {
    const list = await sendEntries<number>(async (add) => add('1'));
    expect(writeJson({ list })).toEqual(['{"list":', '[', Buffer.from('1'), ']', '}']);
    expect(jsonBody({ list })).toBe('{"list":[1]}');
  });

  it('begins to send a long list before its last entry exists, and adds entries without waiting for the reader', async () => {
    const last = Promise.withResolvers<void>();
    let isRead = false;
    const list = await sendEntries<string>(async (add) => {
      for (let i = 0; i < 100; i += 1) add(JSON.stringify(large));
      isRead = true;
      await last.promise;
      add('"last"');
    });
    expect(isRead).toBe(true);
    expect(() => writeJson(list)).toThrow('only jsonBody can serialize');
    const written = bodyText(jsonBody(list));
    last.resolve();
    expect(JSON.parse(await written)).toEqual([...Array(100).fill(large), 'last']);
  });

  it.each([0, 1])(
    'rejects if the work fails after %i entries, before any entry was sent',
    async (count) => {
      const work = async (add: (text: string) => void) => {
        for (let i = 0; i < count; i += 1) add('1');
        await turn();
        throw new Error('gone');
      };
      await expect(sendEntries(work)).rejects.toThrow('gone');
    },
  );

  it('aborts the answer if the work fails after entries were sent', async () => {
    const wrong = Promise.withResolvers<void>();
    const list = await sendEntries<string>(async (add) => {
      add(JSON.stringify(large));
      await wrong.promise;
      throw new Error('gone');
    });
    const body = jsonBody({ list });
    if (!(body instanceof Readable)) throw new Error('a large answer is a stream');
    wrong.resolve();
    await expect(text(body)).rejects.toThrow('gone');
  });
});
