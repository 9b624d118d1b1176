import { describe, expect, it } from 'vitest';
import type { SessionState } from '#domain/session.ts';
import { dispositionOf } from './disposition.ts';

const fate = (state: SessionState, reason: string, attempts = 1) => {
  const decided = dispositionOf({ state, attempts }, { reason, detail: null });
  return decided.kind === 'requeue' ? 'requeue' : `${decided.to} ${decided.reason}`;
};

describe('fateOf', () => {
  it.each([
    ['READY', 'exited', 1, 'FAILED host_lost'],
    ['READY', 'silent', 1, 'FAILED host_lost'],
    ['READY', 'out_of_memory', 1, 'FAILED out_of_memory'],
    ['READY', 'shutdown', 1, 'FAILED reclaimed'],
    ['READY', 'reclaimed', 1, 'FAILED reclaimed'],
    ['READY', 'something new', 1, 'FAILED host_lost'],
    ['CLOSING', 'exited', 1, 'CLOSED requested'],
    ['PROVISIONING', 'exited', 1, 'requeue'],
    ['PROVISIONING', 'shutdown', 2, 'requeue'],
    ['PROVISIONING', 'exited', 3, 'FAILED provision_failed'],
    ['PROVISIONING', 'load_failed', 1, 'FAILED provision_failed'],
  ] as const)('%s, %s, attempt %i: %s', (state, reason, attempts, expected) => {
    expect(fate(state, reason, attempts)).toBe(expected);
  });

  it('passes on what the runtime said', () => {
    const decided = dispositionOf(
      { state: 'READY', attempts: 1 },
      { reason: 'exited', detail: 'status 137' },
    );
    expect(decided).toMatchObject({
      error: { code: 'exited', message: "the session's host ended (exited: status 137)" },
    });
  });
});
