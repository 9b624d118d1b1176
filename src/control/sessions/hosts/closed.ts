/**
 * Handles the close report of a host that has already recycled itself. Usually one statement closes the session and
 * makes the host warm; the report is then held like a poll of the host. In all other cases, the session is closed and
 * the host made warm in separate steps.
 */
import type { Holding } from '#wire/host-api/assignment.ts';
import type { KeptEntry } from '../../base/bodies/ledger-entry.ts';
import type { SessionHost } from '../../db/sessions/calls.ts';
import { poolTopic } from '../../platform/notifications/notifications.ts';
import { closeAsUsual, reportClosed } from '../lifecycle/close.ts';
import type { SessionParts } from '../parts.ts';
import { noteArrived } from '../webhooks/arrivals.ts';
import { type HostPoll, poll } from './poll.ts';
import { reportWarm } from './warm.ts';

export type ClosedReport = {
  /** Last entries of the ledger of the session that the host has closed. */
  entries: readonly KeptEntry[];
  /** World version that the host still has loaded, and the digest of the host's state. */
  holding: Holding;
  /** Leftovers of the session that the host found, rows excepted. */
  found: readonly string[];
  /** Address from which the report came. */
  source: string;
};

/** Closes the session and returns the host's next directive. A repeated report gets the outcome of the first report. */
export const closeAndPoll = async (
  parts: SessionParts,
  asked: SessionHost,
  { entries, holding, found, source }: ClosedReport,
  hold: Pick<HostPoll, 'hold' | 'signal'>,
) => {
  const { hostId, sessionId } = asked;
  const generation = asked.generation + 1;
  let next: 'warm' | 'exit' = 'warm';
  const close = async () => {
    const isClosed =
      found.length === 0 && (await closeAsUsual(parts, asked, entries, holding)) !== undefined;
    const dismissal = isClosed ? undefined : await reportClosed(parts, asked, entries);
    await noteArrived(parts, sessionId, entries);
    if (dismissal === undefined) {
      const isPlaced = await parts.hostAssigner.assignHost(hostId);
      parts.notifications.notify(poolTopic);
      return { waits: !isPlaced };
    }
    if (dismissal.next === 'recycle') {
      return reportWarm(parts, { hostId, generation, source, holding, found });
    }
    if (dismissal.next === 'warm') return { waits: false };
    next = 'exit';
    return { waits: false, answer: {} };
  };
  const directive = await poll(parts, { hostId, generation, ...hold }, close);
  return { generation, next, taken: true, ...directive } as const;
};
