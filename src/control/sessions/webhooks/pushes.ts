/**
 * The queue of webhook deliveries, for senders and for the ledger. A sender claims deliveries. A delivery ends with the
 * receiver's answer or with the reason of a failure. A loop records as failed the deliveries that no sender will send
 * any more.
 */
import pMap from 'p-map';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { Push, PushReport } from '#wire/sender-api/operations.ts';
import {
  type ClaimedPush,
  type ClaimName,
  claimPushes,
  type EndedPush,
  failClaimed,
  giveUpPushes,
  recordFailedPushes,
  releaseUnheard,
  reportPushes,
} from '../../db/sessions/pushes.ts';
import { pushesTopic } from '../../platform/notifications/notifications.ts';
import type { SessionParts } from '../parts.ts';
import { tracePush } from './push-traces.ts';
import { readDelivery } from './read-delivery.ts';
import { sendToHost } from './receiver-answers.ts';

const toPush = (claimed: ClaimedPush): Push | undefined => {
  const { sessionId, id, destination } = claimed;
  const read = readDelivery(claimed);
  if (read === undefined) return undefined;
  const { url, headers, body } = read;
  return { sessionId, sequence: id, url: destination ?? url, headers, body };
};

/**
 * Releases deliveries that a sender claimed in rounds whose response it never received, because the control plane or
 * the connection failed.
 */
export const takeBack = async (
  { db }: Pick<SessionParts, 'db'>,
  { claim, round }: ClaimName,
  heard: number | undefined,
): Promise<void> => {
  if (round === null || heard === undefined || heard + 1 >= round) return;
  await releaseUnheard(db, { claim, round, heard });
};

/** Claims deliveries for a sender. Returns undefined if none is due. */
export const claim = async (
  parts: Pick<SessionParts, 'db'>,
  name: ClaimName,
  most: number,
): Promise<Push[] | undefined> => {
  const claimed = await claimPushes(parts.db, name, most);
  if (claimed.length === 0) return undefined;
  const read = claimed.map((each) => ({ each, push: toPush(each) }));
  const broken = read.filter(({ push }) => push === undefined);
  if (broken.length > 0) {
    const reason = 'the delivery cannot be sent: its headers are not valid in HTTP';
    const failed = broken.map(({ each }) => ({ ...each, failure: 'header' as const, reason }));
    await failClaimed(parts.db, name.claim, failed);
  }
  return read.flatMap(({ push }) => push ?? []);
};

/** Options for calls whose end is not awaited, because the hosts write the answers later. */
const noWait = { ms: 0, signal: new AbortController().signal };
const sessionsAtOnce = 4;

/**
 * Counts and traces deliveries that ended, and passes the answers to the sessions' hosts, which write them into the
 * ledgers.
 */
const noteEnded = async (parts: SessionParts, ended: readonly EndedPush[]): Promise<void> => {
  const sessions = Map.groupBy(ended, ({ sessionId }) => sessionId);
  for (const { failure, status } of ended) {
    if (failure === null) parts.metrics.pushesSent.inc({ status: `${Math.floor(status / 100)}xx` });
    else parts.metrics.pushesFailed.inc({ reason: failure });
  }
  for (const push of ended) tracePush(parts.tracer, push);
  const passOn = async ([sessionId, of]: [string, EndedPush[]]): Promise<void> => {
    const answers = of.flatMap(({ answer }) => (answer?.isNew === true ? [answer] : []));
    const projectId = of[0]?.projectId ?? '';
    if (answers.length === 0) return;
    try {
      await sendToHost(parts, { projectId, sessionId }, answers, noWait);
    } catch (err) {
      parts.log.warn(
        { err, sessionId },
        'answers of webhook receivers could not be sent to the host of the session; they are sent later',
      );
    }
  };
  // The answers are already stored; a host that cannot be reached now gets them later.
  await pMap(sessions, passOn, { concurrency: sessionsAtOnce });
  if (ended.length > 0) parts.notifications.notify(pushesTopic);
};

/** Records the reports of a sender. Returns the number of reports that changed a delivery. */
export const report = async (
  parts: SessionParts,
  name: string,
  reports: readonly PushReport[],
): Promise<number> => {
  const ends = reports.map(({ sequence, agoMs = 0, ...rest }) => ({
    ...{ ...rest, id: sequence, agoMs },
  }));
  const ended = await reportPushes(parts.db, name, ends);
  await noteEnded(parts, ended);
  return ended.length;
};

const everyMs = 1_000;

/** Starts the loop that records as failed the deliveries which no sender will send any more. */
export const startGivingUp = (parts: SessionParts): Loop<{ recorded: number }> =>
  startLoop({
    name: 'pushes',
    everyMs,
    log: parts.log,
    async tick() {
      await giveUpPushes(parts.db);
      const ended = await recordFailedPushes(parts.db);
      await noteEnded(parts, ended);
      return { recorded: ended.length };
    },
  });
