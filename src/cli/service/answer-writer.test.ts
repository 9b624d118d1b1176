import { describe, expect, it } from 'vitest';
import { createAnswerWriter, type KeptAnswer } from './answer-writer.ts';

const answer = (sequence: number) => ({ sequence, status: 200, durationMs: 1 });
const keptOf = (sequence: number) => ({ sequence, kept: true }) as KeptAnswer;

/** Creates a service that answers when the test says so. */
const held = () => {
  const asked: { sequences: number[]; answer(kept: KeptAnswer[] | Error): void }[] = [];
  const writer = createAnswerWriter((answers) => {
    const { promise, resolve, reject } = Promise.withResolvers<KeptAnswer[]>();
    const sequences = answers.map(({ sequence }) => sequence);
    const end = (kept: KeptAnswer[] | Error) =>
      kept instanceof Error ? reject(kept) : resolve(kept);
    asked.push({ sequences, answer: end });
    return promise;
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return { asked, writer, turn };
};

describe('storing answers of receivers', () => {
  it('sends an answer at once, or together with others after a request in progress', async () => {
    const { asked, writer, turn } = held();
    const written = [1, 2, 3].map((sequence) => writer.write(answer(sequence)));
    expect(asked.map(({ sequences }) => sequences)).toEqual([[1]]);
    asked[0]?.answer([keptOf(1)]);
    await turn();
    expect(asked[1]?.sequences).toEqual([2, 3]);
    asked[1]?.answer([keptOf(3)]);
    expect(await Promise.all(written)).toEqual([keptOf(1), undefined, keptOf(3)]);
    void writer.write(answer(4));
    expect(asked[2]?.sequences).toEqual([4]);
  });

  it('sends at most a hundred answers in a batch', async () => {
    const { asked, writer, turn } = held();
    for (let sequence = 1; sequence <= 202; sequence += 1) void writer.write(answer(sequence));
    for (let at = 0; at < 3; at += 1) {
      asked[at]?.answer([]);
      await turn();
    }
    expect(asked.map(({ sequences }) => sequences.length)).toEqual([1, 100, 100, 1]);
  });

  it('rejects only the writes of a batch that failed', async () => {
    const { asked, writer, turn } = held();
    const [first, second] = [writer.write(answer(1)), writer.write(answer(2))];
    asked[0]?.answer(new Error('refused'));
    await expect(first).rejects.toThrow('refused');
    await turn();
    asked[1]?.answer([keptOf(2)]);
    expect(await second).toEqual(keptOf(2));
  });
});
