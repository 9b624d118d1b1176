/**
 * Pushes as senders and the ledger see them: handed out to be sent, ended with what the receiver answered, or with
 * the reason why there is no answer. A loop gives up what nobody will send, and writes failures down.
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
import { tellHost } from './receiver-answers.ts';

const toPush = (claimed: ClaimedPush): Push | undefined => {
  const { sessionId, id, destination } = claimed;
  const read = readDelivery(claimed);
  if (read === undefined) return undefined;
  const { url, headers, body } = read;
  return { sessionId, sequence: id, url: destination ?? url, headers, body };
};

/**
 * Hands out again what was claimed for a sender in rounds of which it heard nothing: the control plane, or the
 * connection to it, broke off in between.
 */
export const takeBack = async (
  { db }: Pick<SessionParts, 'db'>,
  { claim, round }: ClaimName,
  heard: number | undefined,
): Promise<void> => {
  if (round === null || heard === undefined || heard + 1 >= round) return;
  await releaseUnheard(db, { claim, round, heard });
};

/** Claims deliveries for a sender; undefined when there is none to be sent now. */
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
    const reason = 'what the host wrote down cannot be sent: its headers are none of HTTP';
    const failed = broken.map(({ each }) => ({ ...each, failure: 'header' as const, reason }));
    await failClaimed(parts.db, name.claim, failed);
  }
  return read.flatMap(({ push }) => push ?? []);
};

/** Nobody waits for hosts to have written answers down. */
const unheard = { ms: 0, signal: new AbortController().signal };
const sessionsAtOnce = 4;

/** Counts and traces what ended, and has it told to the hosts of the sessions, which write it into their ledgers. */
const tellEnded = async (parts: SessionParts, ended: readonly EndedPush[]): Promise<void> => {
  const sessions = Map.groupBy(ended, ({ sessionId }) => sessionId);
  for (const { failure, status } of ended) {
    if (failure === null) parts.metrics.pushesSent.inc({ status: `${Math.floor(status / 100)}xx` });
    else parts.metrics.pushesFailed.inc({ reason: failure });
  }
  for (const push of ended) tracePush(parts.tracer, push);
  const tell = async ([sessionId, of]: [string, EndedPush[]]): Promise<void> => {
    const answers = of.flatMap(({ answer }) => (answer?.isNew === true ? [answer] : []));
    const projectId = of[0]?.projectId ?? '';
    if (answers.length === 0) return;
    try {
      await tellHost(parts, { projectId, sessionId }, answers, unheard);
    } catch (err) {
      parts.log.warn({ err, sessionId }, 'answers are told to the host of their session later');
    }
  };
  // Answers are kept by now; what a host is not told of at once, it is told of later.
  await pMap(sessions, tell, { concurrency: sessionsAtOnce });
  if (ended.length > 0) parts.notifications.tell(pushesTopic);
};

/** Writes down what a sender reports; answers how many of the reports counted. */
export const report = async (
  parts: SessionParts,
  name: string,
  reports: readonly PushReport[],
): Promise<number> => {
  const ends = reports.map(({ sequence, agoMs = 0, ...rest }) => ({
    ...{ ...rest, id: sequence, agoMs },
  }));
  const ended = await reportPushes(parts.db, name, ends);
  await tellEnded(parts, ended);
  return ended.length;
};

const everyMs = 1_000;

/** Starts giving up what nobody will send. */
export const startGivingUp = (parts: SessionParts): Loop<{ recorded: number }> =>
  startLoop({
    name: 'pushes',
    everyMs,
    log: parts.log,
    async tick() {
      await giveUpPushes(parts.db);
      const ended = await recordFailedPushes(parts.db);
      await tellEnded(parts, ended);
      return { recorded: ended.length };
    },
  });
