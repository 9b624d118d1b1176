/**
 * Drains hosts for an operator. A host that serves a session is not drained unless the operator allows the session to
 * end. A host is drained only if its state has not changed since it was found. A host that gets a session in between is
 * therefore not drained.
 */
import { AppError } from '#domain/error.ts';
import type { HostState } from '#domain/host.ts';
import { drainableStates } from '#wire/admin-api/operations.ts';
import { findPoolHosts } from '../db/operations/installation.ts';
import { findHostStatus } from '../db/sessions/hosts.ts';
import type { Parts } from '../parts.ts';
import { loseHost } from '../sessions/hosts/lose.ts';

export type DrainRequest = {
  hostId?: string;
  installation?: string;
  pool?: string;
  /** True if hosts that serve a session are also drained, which ends the session. */
  endSessions: boolean;
};

export type Drained = { drained: string[]; kept: string[] };

type Found = { id: string; state: HostState };

const findOne = async ({ db }: Parts, id: string, endSessions: boolean): Promise<Found[]> => {
  const status = await findHostStatus(db, id);
  if (status === undefined) throw new AppError('not_found', `there is no host "${id}"`);
  if (status.state === 'assigned' && !endSessions) {
    throw new AppError(
      'conflict',
      `${id} serves ${status.sessionId}, which would end with it: give --end-sessions ("endSessions" in the API) to allow that`,
      { detail: { sessionId: status.sessionId } },
    );
  }
  return [{ id, state: status.state }];
};

const findAll = async (
  { db }: Parts,
  pool: string,
  installation: string | undefined,
): Promise<Found[]> => {
  const hosts = await findPoolHosts(db, pool, installation ?? null);
  if (hosts.length === 0) throw new AppError('not_found', `there is no host in a pool "${pool}"`);
  return hosts;
};

const find = (parts: Parts, request: DrainRequest): Promise<Found[]> => {
  const { hostId, installation, pool, endSessions } = request;
  if (hostId !== undefined && pool === undefined) return findOne(parts, hostId, endSessions);
  if (hostId === undefined && pool !== undefined) return findAll(parts, pool, installation);
  throw new AppError('invalid', 'name one host (`hostId`) or a pool (`pool`)');
};

/** Drains a host; returns false, and does nothing, if the host's state has changed since the host was found. */
const drainOne = async (parts: Parts, { id, state }: Found): Promise<boolean> => {
  const loss = { hostId: id, to: 'draining', reason: 'operator', detail: null } as const;
  try {
    await loseHost(parts, { ...loss, ifState: state });
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return false;
    throw error;
  }
};

/** Drains the hosts that the request names, except those that serve a session or have been claimed meanwhile. */
export const drain = async (parts: Parts, request: DrainRequest): Promise<Drained> => {
  const hosts = await find(parts, request);
  const outcome: Drained = { drained: [], kept: [] };
  for (const host of hosts.filter(({ state }) => drainableStates.includes(state))) {
    const mayGo = host.state !== 'assigned' || request.endSessions;
    const isDrained = mayGo && (await drainOne(parts, host));
    (isDrained ? outcome.drained : outcome.kept).push(host.id);
  }
  return outcome;
};
