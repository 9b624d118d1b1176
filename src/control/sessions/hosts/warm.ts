/**
 * A host says that it is warm: freshly started, loaded ahead, or recycled. A recycled one must hold what
 * it held after its load, to the digest, and must have found nothing else of its session; else it is
 * destroyed, and what was found stands on its row for operators.
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

/** The refusal that makes a host stop. */
export const staleGeneration = (hostId: string, generation: number): AppError =>
  new AppError('conflict', `${hostId} of generation ${generation} is not known, or not any more`);

/** What speaks against a host whose report did not make it warm. */
const faultOf = ({ found, holding }: WarmReport): string => {
  if (found !== undefined && found.length > 0) return found.join('; ');
  const held = holding === undefined ? 'nothing' : `${holding.bundle} in ${holding.stateDigest}`;
  const looked =
    found === undefined ? 'it did not look for what a session left' : 'nothing is left';
  return `it holds ${held}, which may not be what it should; ${looked}`;
};

/** What a host is told whose report made it no warmer: it is so already, or is to be destroyed. */
const explain = async (
  { db, notifications, log }: SessionParts,
  report: WarmReport,
): Promise<HostState> => {
  const { hostId, generation, holding, found } = report;
  const detail = faultOf(report);
  if (await drainUnclean(db, { hostId, generation, detail })) {
    log.warn({ hostId, holding, found }, `a host did not prove clean and is drained: ${detail}`);
    notifications.tell(hostId, poolTopic);
    return 'draining';
  }
  const status = await findHostStatus(db, hostId);
  if (status === undefined || status.state === 'gone') {
    throw staleGeneration(hostId, generation);
  }
  const { state } = status;
  // A repeated report may find that the host has its next directive already: the poll brings them.
  const isDirected = state === 'assigned' || status.isLoading;
  const isNext = isDirected && status.generation === generation + 1;
  if (!isNext && status.generation !== generation) throw staleGeneration(hostId, generation);
  return state;
};

/** Throws `forbidden` when the host tells an address that it may not tell. */
const checkAddress = async (
  { config, db, log }: SessionParts,
  { hostId, address, source }: WarmReport,
): Promise<void> => {
  if (address === undefined) return;
  const known = await findWhereabouts(db, hostId);
  if (known === undefined) return; // which the report itself is refused for
  const fault = addressFault(known, address, config.pinHosts ? source : undefined);
  if (fault === undefined) return;
  log.warn({ hostId, address, source, fault }, 'a host tells an address that it may not tell');
  throw new AppError('forbidden', `the address of ${hostId} is not taken: it ${fault}`);
};

/** How a host stands that reported warm, and whether it waits now for something to do. */
export type Warmed = { state: HostState; waits: boolean };

/** Takes the report and answers the host's state; it may have a session by then. */
export const reportWarm = async (parts: SessionParts, report: WarmReport): Promise<Warmed> => {
  const { db, notifications } = parts;
  const { hostId } = report;
  await checkAddress(parts, report);
  const kind = await makeWarm(db, report);
  if (kind === undefined) return { state: await explain(parts, report), waits: false };
  const isPlaced = await (kind === 'browser'
    ? parts.browserAssigner.place(hostId)
    : parts.hostAssigner.placeHost(hostId));
  // Told last: whoever hears of a warm host and opens a session at once must not find it locked.
  notifications.tell(poolTopic);
  return isPlaced ? { state: 'assigned', waits: false } : { state: 'warm', waits: true };
};
