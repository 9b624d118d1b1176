/**
 * The end of a session whose host has recycled itself before it tells of it: most of them in one statement, which makes
 * the host warm; the answer is then held as that of its next poll. Whatever is not as usual is done step by step.
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
  /** The last of the session's ledger. */
  entries: readonly KeptEntry[];
  /** What the host holds now. */
  holding: Holding;
  /** What it found left of the session besides rows. */
  found: readonly string[];
  /** From where it reports. */
  source: string;
};

/** Closes the session, and answers what the host is to do next. A repeated report finds what became of the first. */
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
      const isPlaced = await parts.hostAssigner.placeHost(hostId);
      parts.notifications.tell(poolTopic);
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
