import { pino } from 'pino';
import { expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import { until } from '#runtime/pause.ts';
import { createContact } from './contact.ts';
import { startHeartbeat } from './heartbeat.ts';
import type { ControlLink } from './link.ts';

const log = pino({ level: 'silent' });

/**
 * Sends one heartbeat that the control plane answers with `answer`. If `changed` is true, the generation rises before
 * the answer arrives.
 */
const beat = async (answer: { drain: boolean; address?: string } | AppError, changed = false) => {
  const identity = { hostId: 'hst-1', generation: 3 };
  const ends: string[] = [];
  const moves: string[] = [];
  let now = 0;
  const contact = createContact([() => now]);
  now += 5_000;
  const sendOnce = async () => {
    now += 9_000;
    if (changed) identity.generation += 1;
    if (answer instanceof AppError) throw answer;
    return answer;
  };
  const loop = startHeartbeat({
    identity,
    serving: { idleMs: () => undefined, moveTo: (address) => void moves.push(address) },
    contact,
    link: { sendOnce } as unknown as ControlLink,
    log,
    onEnd: (reason) => ends.push(reason),
  });
  await until(() => loop.status().ticks > 0, { timeoutMs: 30_000, what: 'a beat' });
  await loop.stop();
  return { ends, moves, isLost: contact.isLost() };
};

it('a heartbeat ends the host when it is drained or its generation is stale', async () => {
  expect(await beat({ drain: false })).toMatchObject({ ends: [] });
  expect(await beat({ drain: true })).toMatchObject({ ends: ['drained'] });
  expect(await beat(new AppError('conflict', 'stale'))).toMatchObject({ ends: ['stale'] });
});

it('a heartbeat ignores a refusal if the generation changed while it was under way', async () => {
  expect(await beat(new AppError('conflict', 'stale'), true)).toMatchObject({ ends: [] });
  expect(await beat(new AppError('unavailable', 'away'))).toMatchObject({ ends: [] });
});

it('a heartbeat passes the current address to the session, unless the generation changed meanwhile', async () => {
  const answer = { drain: false, address: 'http://127.0.0.1:4711' };
  expect(await beat(answer)).toMatchObject({ moves: ['http://127.0.0.1:4711'] });
  expect(await beat(answer, true)).toMatchObject({ moves: [] });
});

it('an answered heartbeat renews the contact with the control plane', async () => {
  expect(await beat({ drain: false })).toMatchObject({ isLost: false });
  expect(await beat(new AppError('unavailable', 'away'))).toMatchObject({ isLost: true });
});
