/**
 * Webhook deliveries that the service itself sends (pushes). A trigger queues them when ledger entries are written
 * (migration 0037). A sender claims deliveries before it sends them, and the claim is recorded. Then the sender reports
 * the outcome. A claim for which no report comes in time counts as a failure, and the delivery is not sent again.
 */
import pMap from 'p-map';
import { type PushFailure, senderEnded } from '#domain/push.ts';
import { type Database, type Queryable, statement } from '../core/database.ts';
import { rowsOf } from '../core/parameters.ts';
import { insertDeliveryAnswers, type KeptDeliveryAnswer } from './deliveries.ts';

/**
 * Maximum numbers of pushes in progress: to one receiver of a project, and in one project. `claimBytes` is the maximum
 * size of one claim, in bytes.
 */
export const pushLimits = { ofReceiver: 8, ofProject: 64, claimBytes: 4 * 1024 * 1024 };

/** Age from which a claim without a report expires, in seconds. */
const claimSeconds = 60;
/** Age from which a waiting delivery fails without being sent, in minutes. */
const waitMinutes = 15;

export type ClaimedPush = {
  sessionId: string;
  id: number;
  event: string;
  destination: string | null;
  /** Delivery as JSON text, as the ledger has it; see `readDelivery`. */
  requestJson: string;
};

// Receivers are found one by one by the index, and the first pushes of each. Receivers with the most pushes in
// progress come last, so that each gets its share.
const claimStatement = statement(
  'claim_pushes',
  `with recursive receivers as (
     (select project_id, receiver from pushes where state = 'ready' order by 1, 2 limit 1)
     union all
     select next.* from receivers r cross join lateral (
       select p.project_id, p.receiver from pushes p
        where p.state = 'ready' and (p.project_id, p.receiver) > (r.project_id, r.receiver)
        order by 1, 2 limit 1) next
   ), busy as (
     select project_id, receiver, count(*) as pushes from pushes where state = 'sending' group by 1, 2
   ), room as (
     select r.project_id, r.receiver, coalesce(b.pushes, 0) as busy
       from receivers r
       join projects p on p.id = r.project_id and p.webhook_push_since is not null
       left join busy b on b.project_id = r.project_id and b.receiver = r.receiver
   ), heads as (
     select room.project_id, h.*, room.busy + h.place as turn from room cross join lateral (
       select p.session_id, p.delivery_id, p.seq, p.bytes, row_number() over (order by p.seq) as place
         from pushes p
        where p.state = 'ready' and p.project_id = room.project_id and p.receiver = room.receiver
        order by p.seq limit greatest(0, :ofReceiver::int - room.busy)) h
   ), shared as (
     select *, row_number() over (partition by project_id order by turn, seq)
            + coalesce((select sum(b.pushes) from busy b where b.project_id = heads.project_id), 0) as of_project
       from heads
   ), chosen as (
     select session_id, delivery_id, sum(bytes) over (order by of_project, seq) - bytes as before
       from shared where of_project <= :ofProject::int
      order by of_project, seq limit :most::int
   ), claimed as (
     update pushes p set state = 'sending', claim = :claim, claimed_at = now(), round = :round::int
       from chosen c
      where p.session_id = c.session_id and p.delivery_id = c.delivery_id and p.state = 'ready'
        and c.before < :mostBytes::int
     returning p.session_id, p.delivery_id, p.destination, p.seq
   )
   select c.session_id as "sessionId", c.delivery_id as id, c.destination,
          r.operation as event, r.request::text as "requestJson"
     from claimed c join requests r on r.session_id = c.session_id and r.id = c.delivery_id
    order by c.seq`,
);

/**
 * Id of a sender (`claim`), and the number of the sender's claim (`round`). Senders of the previous release do not
 * number their claims; `round` is then null.
 */
export type ClaimName = { claim: string; round: number | null };

/** Claims up to `most` pushes that may be sent now. The sender sends each of them once, or not at all. */
export const claimPushes = (
  db: Queryable,
  name: ClaimName,
  most: number,
): Promise<ClaimedPush[]> => {
  const { claimBytes, ...shares } = pushLimits;
  return db.query<ClaimedPush>(claimStatement, { ...shares, ...name, most, mostBytes: claimBytes });
};

const releaseStatement = statement(
  'release_pushes',
  `update pushes set state = 'ready', claim = null, claimed_at = null, round = null
    where state = 'sending' and claim = :claim and round > :heard::int and round < :round::int`,
);

/**
 * Releases the pushes that were claimed in rounds after `heard`, so that another sender can claim them. Their sender
 * reports that it received no response in those rounds, so it has not begun to send these pushes.
 */
export const releaseUnheard = async (
  db: Queryable,
  unheard: { claim: string; round: number; heard: number },
): Promise<void> => {
  await db.query(releaseStatement, unheard);
};

/** Outcome of a push: a response, or a failure with the status 0. */
export type PushEnd = {
  sessionId: string;
  id: number;
  status: number;
  failure: PushFailure | null;
  reason: string | null;
  durationMs: number;
  /** Time since the push ended when the outcome is reported, in milliseconds; absent if the push was not sent. */
  agoMs?: number;
};

type TakenRow = {
  id: number;
  line: string;
  projectId: string;
  destination: string | null;
  queuedAt: Date;
  /** True if the first call of the session caused the delivery. Only the first call is traced. */
  isOfFirstCall: boolean;
};

/** Push that has ended, with the stored response of the receiver; undefined if none is stored. */
export type EndedPush = PushEnd &
  Pick<TakenRow, 'projectId' | 'queuedAt' | 'isOfFirstCall'> & {
    answer: KeptDeliveryAnswer | undefined;
  };

const takenColumns = `delivery_id as id, line::text as line, project_id as "projectId", destination,
  queued_at as "queuedAt",
  exists (select from requests r join calls c on c.id = r.call_id
           where r.session_id = pushes.session_id and r.id = delivery_id and c.seq = 1) as "isOfFirstCall"`;

const takeReportedStatement = statement(
  'take_reported_pushes',
  `delete from pushes
    where session_id = :sessionId and delivery_id = any(:ids::int[]) and state = 'sending' and claim = :claim
   returning ${takenColumns}`,
);

const takeFailedStatement = statement(
  'take_failed_pushes',
  `delete from pushes
    where session_id = $1 and delivery_id = any($2::int[]) and state = 'failed'
   returning ${takenColumns}`,
);

const lockLinesStatement = statement(
  'lock_push_lines',
  'select last_id from push_sessions where session_id = $1 for update',
);

/**
 * Makes the first push of each given line ready, unless it is in progress. A line holds the pushes that must be sent in
 * order; so only its first push is ever ready, and later pushes wait. The statement reads one row for each line,
 * however many pushes wait.
 */
export const promoteStatement = statement(
  'promote_pushes',
  `update pushes p set state = 'ready'
     from ${rowsOf('$2::bigint[]')} as ended(line) cross join lateral (
            select delivery_id, state from pushes
             where session_id = $1 and line = ended.line and state in ('waiting', 'ready', 'sending')
             order by delivery_id limit 1) first
    where p.session_id = $1 and p.delivery_id = first.delivery_id and first.state = 'waiting'`,
);

/** Makes the next push of each given line ready. */
const promoteNext = async (
  tx: Queryable,
  sessionId: string,
  lines: ReadonlySet<string>,
): Promise<void> => {
  await tx.query(lockLinesStatement, [sessionId]);
  await tx.query(promoteStatement, [sessionId, [...lines]]);
};

/** Ends pushes of one session: records their responses, and makes the next push of each line ready. */
const endPushes = (
  db: Database,
  sessionId: string,
  ends: readonly PushEnd[],
  take: (tx: Queryable, ids: number[]) => Promise<TakenRow[]>,
): Promise<EndedPush[]> =>
  db.transaction(async (tx) => {
    const taken = await take(
      tx,
      ends.map(({ id }) => id),
    );
    if (taken.length === 0) return [];
    const endOf = new Map(ends.map((end) => [end.id, end] as const));
    const known = taken.flatMap((row) => {
      const end = endOf.get(row.id);
      return end === undefined ? [] : [{ ...row, ...end }];
    });
    const answers = known.map(({ id, status, reason, destination, durationMs }) => ({
      ...{ deliveryId: id, status, reason, sentTo: destination, durationMs },
    }));
    const kept = await insertDeliveryAnswers(tx, { sessionId, sender: 'push' }, answers);
    const answerOf = new Map(kept.map((answer) => [answer.deliveryId, answer] as const));
    await promoteNext(tx, sessionId, new Set(known.map(({ line }) => line)));
    return known.map((push) => ({ ...push, answer: answerOf.get(push.id) }));
  });

/** Number of sessions whose pushes are ended in parallel, each in its own transaction. */
const sessionsAtOnce = 4;

const endAll = async (
  db: Database,
  ends: readonly PushEnd[],
  takeOf: (sessionId: string) => (tx: Queryable, ids: number[]) => Promise<TakenRow[]>,
): Promise<EndedPush[]> => {
  const ended = await pMap(
    Map.groupBy(ends, ({ sessionId }) => sessionId),
    ([sessionId, of]) => endPushes(db, sessionId, of, takeOf(sessionId)),
    { concurrency: sessionsAtOnce },
  );
  return ended.flat();
};

/** Records the outcomes that a sender reports. Pushes that the sender has no longer claimed are left out. */
export const reportPushes = (
  db: Database,
  claim: string,
  ends: readonly PushEnd[],
): Promise<EndedPush[]> =>
  endAll(
    db,
    ends,
    (sessionId) => (tx, ids) =>
      tx.query<TakenRow>(takeReportedStatement, { sessionId, ids, claim }),
  );

// If a sender falls silent, it is unknown whether its push was received.
const expireStatement = statement(
  'expire_pushes',
  `update pushes set state = 'failed', claim = null, round = null, failure = $1, reason = $2
    where state = 'sending' and claimed_at < now() - interval '${claimSeconds} seconds'`,
);

const lateStatement = statement(
  'late_pushes',
  `update pushes set state = 'failed', failure = 'late', reason = 'it waited for more than ${waitMinutes} minutes'
    where (session_id, delivery_id) in (
      select session_id, delivery_id from pushes
       where state in ('waiting', 'ready') and queued_at < now() - interval '${waitMinutes} minutes'
       order by queued_at limit 1000 for update skip locked)`,
);

const offStatement = statement(
  'off_pushes',
  `update pushes p set state = 'failed', failure = 'push_off', reason = 'push was turned off before it was sent'
     from projects j
    where j.id = p.project_id and j.webhook_push_since is null and p.state in ('waiting', 'ready')`,
);

/** Fails pushes whose claim has expired, that have waited for too long, or whose project has turned pushing off. */
export const giveUpPushes = async (db: Queryable): Promise<void> => {
  await db.query(expireStatement, [senderEnded.code, senderEnded.message]);
  await db.query(lateStatement, []);
  await db.query(offStatement, []);
};

const failedStatement = statement(
  'failed_pushes',
  `select session_id as "sessionId", delivery_id as id, 0 as status, failure, reason, 0 as "durationMs"
     from pushes where state = 'failed' order by seq limit 500`,
);

/** Records some of the failures of pushes that were not sent, and returns these pushes. */
export const recordFailedPushes = async (db: Database): Promise<EndedPush[]> => {
  const failed = await db.query<PushEnd>(failedStatement, []);
  return endAll(
    db,
    failed,
    (sessionId) => (tx, ids) => tx.query<TakenRow>(takeFailedStatement, [sessionId, ids]),
  );
};

const failStatement = statement(
  'fail_pushes',
  `update pushes p set state = 'failed', claim = null, round = null, failure = f.failure, reason = f.reason
     from ${rowsOf(':sessionIds::text[], :ids::int[], :failures::text[], :reasons::text[]')}
          as f(session_id, delivery_id, failure, reason)
    where p.session_id = f.session_id and p.delivery_id = f.delivery_id and p.state = 'sending' and p.claim = :claim`,
);

/** Fails pushes that were claimed but cannot be sent. */
export const failClaimed = async (
  db: Queryable,
  claim: string,
  failed: readonly { sessionId: string; id: number; failure: PushFailure; reason: string }[],
): Promise<void> => {
  await db.query(failStatement, {
    claim,
    sessionIds: failed.map(({ sessionId }) => sessionId),
    ids: failed.map(({ id }) => id),
    failures: failed.map(({ failure }) => failure),
    reasons: failed.map(({ reason }) => reason),
  });
};

export type PushLoad = { queued: number; sending: number; oldestSeconds: number };

const loadStatement = statement(
  'push_load',
  `select (select count(*) from pushes where state in ('waiting', 'ready'))::int as queued,
          (select count(*) from pushes where state = 'sending')::int as sending,
          coalesce(extract(epoch from now() - (select min(queued_at) from pushes
                    where state in ('waiting', 'ready'))), 0)::float8 as "oldestSeconds"`,
);

/** Counts the pushes that wait and those in progress, and returns the age of the oldest waiting push. */
export const readPushLoad = async (db: Queryable): Promise<PushLoad> =>
  (await db.query<PushLoad>(loadStatement, []))[0] ?? { queued: 0, sending: 0, oldestSeconds: 0 };
