/**
 * Handles the report of a host that has become warm: just started, preloaded or recycled. A recycled host must have the
 * state digest that it had after the load, and must have found no leftovers of its session. Otherwise the host is
 * destroyed, and what it found is stored on its row for operators.
 */
import { AppError } from '#domain/error.ts';
import type { HostState } from '#domain/host.ts';
import {
  drainUnclean,
  findHostStatus,
  findWhereabouts,
  makeWarm,
  type WarmReport,
} from '../../db/sessions/hosts.ts';
import { poolTopic } from '../../platform/notifications/notifications.ts';
import type { SessionParts } from '../parts.ts';
import { addressFault } from './address.ts';

/** Builds the error for a host whose generation is outdated. The host stops when it gets this error. */
export const staleGeneration = (hostId: string, generation: number): AppError =>
  new AppError('conflict', `${hostId} of generation ${generation} is unknown or outdated`);

/** Returns why the report did not make the host warm. */
const faultOf = ({ found, holding }: WarmReport): string => {
  if (found !== undefined && found.length > 0) return found.join('; ');
  const held = holding === undefined ? 'nothing' : `${holding.bundle} in ${holding.stateDigest}`;
  const looked =
    found === undefined
      ? 'the host did not look for leftovers of its session'
      : 'the host found no leftovers';
  return `the host has loaded ${held}, which may differ from what it loaded first; ${looked}`;
};

/**
 * Returns the state of a host that the report did not make warm: the host was warm already, or it is to be destroyed.
 */
const explain = async (
  { db, notifications, log }: SessionParts,
  report: WarmReport,
): Promise<HostState> => {
  const { hostId, generation, holding, found } = report;
  const detail = faultOf(report);
  if (await drainUnclean(db, { hostId, generation, detail })) {
    log.warn(
      { hostId, holding, found },
      `a host did not prove that it is clean and is drained: ${detail}`,
    );
    notifications.notify(hostId, poolTopic);
    return 'draining';
  }
  const status = await findHostStatus(db, hostId);
  if (status === undefined || status.state === 'gone') {
    throw staleGeneration(hostId, generation);
  }
  const { state } = status;
  // At a repeated report the host may already have its next directive, which its poll fetches.
  const isDirected = state === 'assigned' || status.isLoading;
  const isNext = isDirected && status.generation === generation + 1;
  if (!isNext && status.generation !== generation) throw staleGeneration(hostId, generation);
  return state;
};

/** Throws `forbidden` if the report contains an address that the host may not report. */
const checkAddress = async (
  { config, db, log }: SessionParts,
  { hostId, address, source }: WarmReport,
): Promise<void> => {
  if (address === undefined) return;
  const known = await findWhereabouts(db, hostId);
  if (known === undefined) return; // the report itself is refused for that
  const fault = addressFault(known, address, config.pinHosts ? source : undefined);
  if (fault === undefined) return;
  log.warn({ hostId, address, source, fault }, 'a host reported an address that it may not report');
  throw new AppError('forbidden', `the address of ${hostId} is rejected: it ${fault}`);
};

/** State of a host after its report; `waits` is true if there is no directive for the host yet. */
export type Warmed = { state: HostState; waits: boolean };

/** Handles the report and returns the host's state. By the time it returns, the host may already have a session. */
export const reportWarm = async (parts: SessionParts, report: WarmReport): Promise<Warmed> => {
  const { db, notifications } = parts;
  const { hostId } = report;
  await checkAddress(parts, report);
  const kind = await makeWarm(db, report);
  if (kind === undefined) return { state: await explain(parts, report), waits: false };
  const isPlaced = await (kind === 'browser'
    ? parts.browserAssigner.assign(hostId)
    : parts.hostAssigner.assignHost(hostId));
  // Notified last: a client that learns of a warm host and opens a session at once must not find the host locked.
  notifications.notify(poolTopic);
  return isPlaced ? { state: 'assigned', waits: false } : { state: 'warm', waits: true };
};
