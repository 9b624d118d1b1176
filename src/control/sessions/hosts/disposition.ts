/** Decides the disposition of a session whose host is drained or gone. Pure. */
import type { HostEnd } from '#domain/host.ts';
import type { EndReason } from '#domain/session.ts';
import type { Ending, LockedSession } from '../../db/sessions/endings.ts';

export type Disposition = { kind: 'requeue' } | ({ kind: 'end' } & Ending);

/** Number of hosts that are tried for a session before it fails. */
export const mostAttempts = 3;

/** Returns the end reason of a session whose host ended for this reason. */
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
 * Returns the disposition. A session that is still provisioning is requeued, a limited number of times. One that was
 * closing is closed. Any other has lost its state and fails, with the reason of its host's end.
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
