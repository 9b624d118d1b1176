/**
 * Takes a host out of service: its state becomes `draining` if the host must be destroyed, or `gone` if it is known not
 * to exist. The session on the host ends, or waits for another host.
 */

import { AppError } from '#domain/error.ts';
import { type HostKind, type HostState, hostTransitions } from '#domain/host.ts';
import { own } from '#domain/json.ts';
import type { LedgerMark } from '#domain/ledger.ts';
import { can } from '#domain/transitions.ts';
import type { Queryable } from '../../db/core/database.ts';
import { loseBrowser } from '../../db/sessions/browsers.ts';
import {
  type LockedHost,
  type LockedSession,
  lockHost,
  lockSession,
  releaseHost,
  requeueSession,
} from '../../db/sessions/endings.ts';
import { findHostStatus } from '../../db/sessions/hosts.ts';
import { noteLostEntries } from '../../db/sessions/lost-entries.ts';
import type { SessionParts } from '../parts.ts';
import {
  addEffects,
  applyEffects,
  type Effects,
  endSession,
  noEffects,
} from '../scheduling/end-sessions.ts';
import { dispositionOf, type HostLoss } from './disposition.ts';
import { staleGeneration } from './warm.ts';

export type Loss = HostLoss & {
  hostId: string;
  to: 'draining' | 'gone';
  /**
   * Last output of the host, if known. It is stored on the host's row only, because the owner of the session must not
   * see all of it.
   */
  output?: string | null;
  /** Last ledger entry that the host had written for its session; undefined if it is not known. */
  ledger?: LedgerMark | undefined;
  /**
   * Generation that the host itself reported. The loss is refused with `conflict` unless this is the host's current or
   * previous generation.
   */
  generation?: number;
  /** Expected state of the host. The loss is refused with `conflict` if the host is in another state. */
  ifState?: HostState | undefined;
};

/**
 * Host states in which a reason may drain a host, by reason; a reason without an entry may drain any host. In another
 * state, the loss is refused, because the host may have been claimed since the caller read its state.
 */
const onlyIn: Record<string, readonly HostState[]> = {
  surplus: ['starting', 'warm'],
  outdated: ['starting', 'warm', 'recycling'],
  start_timeout: ['starting'],
  recycle_timeout: ['recycling'],
};

/**
 * Result of taking a host out of service. `requeued` names a session that now waits for another host of this kind; it
 * is absent if no session does.
 */
type Outcome = { effects: Effects; requeued?: { sessionId: string; kind: HostKind } | undefined };
const nothing: Outcome = { effects: noEffects };

const tries = 5;

const checkState = (host: LockedHost, { to, reason, ifState }: Loss): void => {
  const meant = ifState === undefined ? undefined : [ifState];
  const allowed = meant ?? (to === 'draining' ? own(onlyIn, reason) : undefined);
  if (allowed === undefined || allowed.includes(host.state)) return;
  throw new AppError('conflict', `${host.id} is now ${host.state}, not ${allowed.join(' or ')}`, {
    detail: { state: host.state },
  });
};

/**
 * Checks the generation that the host reported. A host that exits may not have received its last assignment, so its
 * previous generation is accepted, too.
 */
const checkGeneration = (host: LockedHost, { generation = host.generation }: Loss): void => {
  if (generation === host.generation || generation + 1 === host.generation) return;
  throw staleGeneration(host.id, generation);
};

const loseSession = async (
  tx: Queryable,
  session: LockedSession,
  loss: HostLoss,
): Promise<Outcome> => {
  const disposition = dispositionOf(session, loss);
  if (disposition.kind === 'requeue') {
    await requeueSession(tx, session.id);
    const requeued = { sessionId: session.id, kind: 'world' as const };
    return { effects: addEffects(noEffects, [session.id]), requeued };
  }
  return { effects: await endSession(tx, session, disposition) };
};

/** Detaches a lost browser from its session; the session continues and waits for another browser. */
const loseItsBrowser = async (tx: Queryable, hostId: string, reason: string): Promise<Outcome> => {
  const sessionId = await loseBrowser(tx, hostId, reason);
  if (sessionId === undefined) return nothing;
  const requeued = { sessionId, kind: 'browser' as const };
  return { effects: addEffects(noEffects, [sessionId]), requeued };
};

/** Locks the host's session, then the host. Returns undefined if the host's session changed in between. */
const lockBoth = async (
  tx: Queryable,
  hostId: string,
): Promise<{ host: LockedHost; session: LockedSession | undefined } | undefined> => {
  const status = await findHostStatus(tx, hostId);
  if (status === undefined) throw new AppError('not_found', `there is no host "${hostId}"`);
  const { sessionId } = status;
  const session = sessionId === null ? undefined : await lockSession(tx, sessionId);
  const host = await lockHost(tx, hostId);
  return host === undefined || host.sessionId !== sessionId ? undefined : { host, session };
};

/**
 * Joins the reported detail and the last output of a host that ended, for operators. Returns null if both are empty.
 */
const accountOf = ({ detail, output }: Loss): string | null => {
  const lines = [detail, output].filter(Boolean);
  return lines.length === 0 ? null : lines.join('\n');
};

const loseServed = (
  tx: Queryable,
  { id, kind }: LockedHost,
  session: LockedSession | undefined,
  loss: HostLoss,
): Outcome | Promise<Outcome> => {
  if (session === undefined) return nothing;
  return kind === 'browser' ? loseItsBrowser(tx, id, loss.reason) : loseSession(tx, session, loss);
};

/** Counts the ledger entries that were lost with the host, so that the session's end can report the number. */
const noteLedger = async (
  tx: Queryable,
  { hostId, ledger }: Loss,
  { effects, ...outcome }: Outcome,
): Promise<Outcome> => {
  const lost = ledger === undefined ? 0 : await noteLostEntries(tx, { ...ledger, hostId });
  if (ledger === undefined || lost === 0) return { effects, ...outcome };
  return { ...outcome, effects: addEffects(effects, [ledger.sessionId]) };
};

const loseOnce = async (tx: Queryable, loss: Loss): Promise<Outcome | undefined> => {
  const locked = await lockBoth(tx, loss.hostId);
  if (locked === undefined) return undefined;
  const { host, session } = locked;
  if (!can(hostTransitions, host.state, loss.to)) return noteLedger(tx, loss, nothing);
  checkGeneration(host, loss);
  checkState(host, loss);
  // The reason that a drained host gave is more precise than that of the observer who found it gone.
  const reason = host.endReason ?? loss.reason;
  const ended = await loseServed(tx, host, session, { ...loss, reason });
  const outcome = await noteLedger(tx, loss, ended);
  await releaseHost(tx, { ...loss, detail: accountOf(loss) });
  return { ...outcome, effects: addEffects(outcome.effects, [host.id]) };
};

/** Takes a host out of service. Calling it again changes nothing. */
export const loseHost = async (parts: SessionParts, loss: Loss): Promise<void> => {
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const outcome = await parts.db.transaction((tx) => loseOnce(tx, loss));
    if (outcome === undefined) continue;
    applyEffects(parts, outcome.effects);
    const { requeued } = outcome;
    if (requeued?.kind === 'world') await parts.hostAssigner.assignSession(requeued.sessionId);
    else if (requeued !== undefined) await parts.browserAssigner.assign();
    return;
  }
  throw new AppError('unavailable', `the session on ${loss.hostId} keeps changing; try again`);
};
