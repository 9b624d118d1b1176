import { pino } from 'pino';
import { expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import { until } from '#runtime/pause.ts';
import type { ControlLink } from './control-link.ts';
import { startHeartbeat } from './heartbeat.ts';
import { createServing } from './session/serving.ts';

const log = pino({ level: 'silent' });

/** Runs one beat that the control plane answers so; `changed` raises the generation meanwhile. */
const beat = async (answer: { drain: boolean } | AppError, changed = false) => {
  const standing = { hostId: 'hst-1', generation: 3 };
  const ends: string[] = [];
  const sendOnce = async () => {
    if (changed) standing.generation += 1;
    if (answer instanceof AppError) throw answer;
    return answer;
  };
  const loop = startHeartbeat({
    standing,
    serving: createServing(),
    link: { sendOnce } as unknown as ControlLink,
    log,
    onEnd: (reason) => ends.push(reason),
  });
  await until(() => loop.status().ticks > 0, { timeoutMs: 2_000, what: 'a beat' });
  await loop.stop();
  return ends;
};

it('ends the host when it is drained or its generation is stale', async () => {
  expect(await beat({ drain: false })).toEqual([]);
  expect(await beat({ drain: true })).toEqual(['drained']);
  expect(await beat(new AppError('conflict', 'stale'))).toEqual(['stale']);
});

it('does not take a refusal for its own that crossed a change of generation', async () => {
  expect(await beat(new AppError('conflict', 'stale'), true)).toEqual([]);
  expect(await beat(new AppError('unavailable', 'away'))).toEqual([]);
});
