import { expect, it } from 'vitest';
import { createLog } from './log.ts';
import { type Poll, startLongPoll } from './long-poll.ts';
import { until } from './pause.ts';

it('a long poll continues from its last answer, and requests an immediate answer at first and after a failure', async () => {
  const asked: Pick<Poll, 'after' | 'holdMs'>[] = [];
  const answers = ['r1', 'r2', undefined, 'r3'];
  const poll = startLongPoll({
    name: 'test',
    holdMs: 20_000,
    log: createLog('test', 'silent'),
    ask: async ({ after, holdMs, signal }) => {
      asked.push({ after, holdMs });
      if (asked.length > answers.length) await new Promise((end) => (signal.onabort = end));
      const revision = answers[asked.length - 1];
      if (revision === undefined) throw new Error('away');
      return { revision };
    },
    take: ({ revision }) => revision,
  });
  await until(() => asked.length === 5, { timeoutMs: 30_000, what: 'five questions' });
  expect(poll.status()).toMatchObject({ last: 'r3', failures: 1 });
  await poll.stop();
  expect(asked).toEqual([
    { after: undefined, holdMs: 0 },
    { after: 'r1', holdMs: 20_000 },
    { after: 'r2', holdMs: 20_000 },
    { after: 'r2', holdMs: 0 },
    { after: 'r3', holdMs: 20_000 },
  ]);
});
