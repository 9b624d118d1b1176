/** What becomes of a session whose host is drained or gone. A pure decision. */
import type { HostEnd } from '#domain/host.ts';
import type { EndReason } from '#domain/session.ts';
import type { Ending, LockedSession } from '../../db/sessions/endings.ts';

export type Disposition = { kind: 'requeue' } | ({ kind: 'end' } & Ending);

/** Hosts that a session is given before it is given up. */
export const mostAttempts = 3;

/** How a host's end reads as the reason of its session's. */
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
 * A session that nobody has used yet gets another host, a few times. One that was being closed is
 * closed. Any other has lost its state and failed, for the reason that its host ended for.
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
