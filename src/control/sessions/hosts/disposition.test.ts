import { describe, expect, it } from 'vitest';
import type { SessionState } from '#domain/session.ts';
import { dispositionOf } from './disposition.ts';

const dispositionText = (state: SessionState, reason: string, attempts = 1) => {
  const decided = dispositionOf({ state, attempts }, { reason, detail: null });
  return decided.kind === 'requeue' ? 'requeue' : `${decided.to} ${decided.reason}`;
};

describe('the disposition of a session', () => {
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
  ] as const)(
    'in %s, whose host ended with %s after %i attempts, is %s',
    (state, reason, attempts, expected) => {
      expect(dispositionText(state, reason, attempts)).toBe(expected);
    },
  );

  it('includes the detail that the runtime reported', () => {
    const decided = dispositionOf(
      { state: 'READY', attempts: 1 },
      { reason: 'exited', detail: 'status 137' },
    );
    expect(decided).toMatchObject({
      error: { code: 'exited', message: "the session's host ended (exited: status 137)" },
    });
  });
});
