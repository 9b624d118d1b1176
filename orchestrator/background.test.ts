import { pino } from 'pino';
import { expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { createBackgrounds } from './observe/background.ts';

const log = pino({ level: 'silent' });

it('work of an earlier term of leadership is forgotten once it is done', async () => {
  const backgrounds = createBackgrounds(log);
  for (let term = 0; term < 3; term += 1) backgrounds.release(backgrounds.open(() => undefined));
  const last = backgrounds.open(() => undefined);
  const step = Promise.withResolvers<void>();
  last.begin('hst-1', 'destroy', () => step.promise);
  backgrounds.release(last);
  await until(() => backgrounds.size() === 1, { timeoutMs: 30_000, what: 'the last term alone' });
  const all = backgrounds.finish();
  step.resolve();
  await all;
  await until(() => backgrounds.size() === 0, { timeoutMs: 30_000, what: 'no term' });
  expect(last.busy.size).toBe(0);
});
