/** Decides what happens to a session whose host is drained or gone. Pure functions only. */
import type { HostEnd } from '#domain/host.ts';
import type { EndReason } from '#domain/session.ts';
import type { Ending, LockedSession } from '../../db/sessions/endings.ts';

export type Disposition = { kind: 'requeue' } | ({ kind: 'end' } & Ending);

/** Maximum number of hosts on which a session is tried before it fails. */
export const mostAttempts = 3;

/** Returns the end reason of a session whose host ended for the given reason. */
const reasonOf = (hostEnd: string): EndReason => {
  const reasons: Partial<Record<HostEnd, EndReason>> = {
    out_of_memory: 'out_of_memory',
    shutdown: 'reclaimed',
    surplus: 'reclaimed',
    outdated: 'reclaimed',
    reclaimed: 'reclaimed',
    operator: 'reclaimed',
    load_failed: 'provision_failed',
  };
  return reasons[hostEnd as HostEnd] ?? 'host_lost';
};

export type HostLoss = { reason: string; detail: string | null };

/**
 * Returns the disposition of the session. A session that is still provisioning is queued again, a limited number of
 * times. A session that was closing becomes closed. A session in any other state has lost its data and fails, with the
 * end reason of its host.
 */
export const dispositionOf = (
  { state, attempts }: Pick<LockedSession, 'state' | 'attempts'>,
  { reason, detail }: HostLoss,
): Disposition => {
  if (state === 'CLOSING') return { kind: 'end', to: 'CLOSED', reason: 'requested', error: null };
  const because = detail === null ? reason : `${reason}: ${detail}`;
  if (state === 'PROVISIONING') {
    if (attempts < mostAttempts && reason !== 'load_failed') return { kind: 'requeue' };
    const message = `no host could load the world, ${attempts} tried; the last one ended (${because})`;
    return {
      kind: 'end',
      to: 'FAILED',
      reason: 'provision_failed',
      error: { code: reason, message },
    };
  }
  const message = `the session's host ended (${because})`;
  return { kind: 'end', to: 'FAILED', reason: reasonOf(reason), error: { code: reason, message } };
};
