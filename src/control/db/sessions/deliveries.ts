/**
 * Deliveries of webhooks, which are entries of the ledgers of sessions, and what receivers answered to them.
 * Whoever sends a delivery reads it here and writes the answer here, once: of several answers the first is kept.
 *
 * A delivery is told from all others by its session and the number of its entry, which counts on over resets.
 */
import { answerSuffix, type DeliverySender } from '#domain/ledger.ts';
import type { KeptEntry } from '../../base/bodies/ledger-entry.ts';
import { type Queryable, statement } from '../core/database.ts';
import { rowsOf } from '../core/parameters.ts';
import { entryValues, writeEntries } from './requests.ts';

/** Whether an entry `r` is a delivery, and not an answer to one. */
export const isDelivery = `r.via = 'webhook' and right(r.operation, ${answerSuffix.length}) <> '${answerSuffix}'`;

/** What a receiver answered. */
export type AnswerRow = {
  /** 0: it gave no answer, and `reason` says why. */
  status: number;
  reason: string | null;
  /** The address that it was sent to, where that is not the one registered. */
  sentTo: string | null;
  sender: DeliverySender;
  durationMs: number;
  answeredAt: Date;
};

export type DeliveryRow = {
  /** The number of the entry in the ledger of the session. */
  id: number;
  at: Date;
  event: string;
  /** What the host said of it: see `readDelivery`. */
  requestJson: string;
  answer: AnswerRow | null;
};

type ListedRow = Omit<DeliveryRow, 'answer'> &
  Omit<AnswerRow, 'status'> & {
    status: number | null;
  };

// What follows the first that has no room is for the next page.
const listStatement = statement(
  'list_deliveries',
  `with page as (
     select r.session_id, r.id, sum(r.bytes) over (order by r.id) - r.bytes as before
       from requests r
      where r.session_id = :sessionId and r.id > :after::int and ${isDelivery}
      order by r.id limit :limit
   )
   select r.id, r.at, r.operation as event, r.request::text as "requestJson", a.status, a.reason,
          a.sent_to as "sentTo", a.sender, a.duration_ms as "durationMs", a.answered_at as "answeredAt"
     from page join requests r on r.session_id = page.session_id and r.id = page.id
     left join delivery_answers a on a.session_id = r.session_id and a.delivery_id = r.id
    where page.before < :mostBytes::bigint
    order by r.id`,
);

export type DeliveryPage = { after: number; limit: number; mostBytes: number };

/** Deliveries of a session whose numbers are larger than `after`, in their order. */
export const listDeliveries = async (
  db: Queryable,
  sessionId: string,
  page: DeliveryPage,
): Promise<DeliveryRow[]> => {
  const rows = await db.query<ListedRow>(listStatement, { sessionId, ...page });
  return rows.map(({ id, at, event, requestJson, status, ...rest }) => ({
    ...{ id, at, event, requestJson },
    answer: status === null ? null : { status, ...rest },
  }));
};

const lastStatement = statement(
  'last_delivery',
  `select coalesce(max(r.id), 0) as last from requests r where r.session_id = $1 and ${isDelivery}`,
);

/** The number of a session's last delivery; 0 where it has none. */
export const findLastDelivery = async (db: Queryable, sessionId: string): Promise<number> =>
  (await db.query<{ last: number }>(lastStatement, [sessionId]))[0]?.last ?? 0;

/** An answer to be kept. */
export type NewDeliveryAnswer = Pick<AnswerRow, 'status' | 'reason' | 'sentTo' | 'durationMs'> & {
  deliveryId: number;
};

/** An answer that was kept, or was there before. */
export type KeptDeliveryAnswer = AnswerRow & { deliveryId: number; event: string; isNew: boolean };

const answerColumns = `delivery_id as "deliveryId", event, status, reason, sent_to as "sentTo", sender,
  duration_ms as "durationMs", answered_at as "answeredAt"`;

const insertStatement = statement(
  'insert_delivery_answers',
  `with given as (
     select * from ${rowsOf(`:deliveryIds::int[], :statuses::int[], :reasons::text[], :sentTos::text[],
       :durations::float8[]`)} as g(delivery_id, status, reason, sent_to, duration_ms)
   )
   insert into delivery_answers
     (session_id, delivery_id, event, status, reason, sent_to, sender, duration_ms)
   select r.session_id, r.id, r.operation, g.status, g.reason, g.sent_to, :sender, g.duration_ms
     from given g join requests r on r.session_id = :sessionId and r.id = g.delivery_id
    where ${isDelivery}
   on conflict do nothing
   returning ${answerColumns}`,
);

const findStatement = statement(
  'find_delivery_answers',
  `select ${answerColumns} from delivery_answers
    where session_id = :sessionId and delivery_id = any(:deliveryIds::int[])`,
);

/**
 * Keeps answers to deliveries of a session that have none yet, and answers what is kept of each by now: of a
 * delivery that is not there, nothing.
 */
export const insertDeliveryAnswers = async (
  db: Queryable,
  { sessionId, sender }: { sessionId: string; sender: DeliverySender },
  answers: readonly NewDeliveryAnswer[],
): Promise<KeptDeliveryAnswer[]> => {
  const deliveryIds = answers.map(({ deliveryId }) => deliveryId);
  const inserted = await db.query<KeptDeliveryAnswer>(insertStatement, {
    ...{ sessionId, sender, deliveryIds },
    statuses: answers.map(({ status }) => status),
    reasons: answers.map(({ reason }) => reason),
    sentTos: answers.map(({ sentTo }) => sentTo),
    durations: answers.map(({ durationMs }) => durationMs),
  });
  const kept = inserted.map((answer) => ({ ...answer, isNew: true }));
  if (kept.length === deliveryIds.length) return kept;
  const known = await db.query<KeptDeliveryAnswer>(findStatement, { sessionId, deliveryIds });
  const isKept = new Set(kept.map(({ deliveryId }) => deliveryId));
  const earlier = known.filter(({ deliveryId }) => !isKept.has(deliveryId));
  return [...kept, ...earlier.map((answer) => ({ ...answer, isNew: false }))];
};

const settleStatement = statement(
  'settle_delivery_answers',
  `update delivery_answers a set entry_id = e.entry_id
     from ${rowsOf(':deliveryIds::int[], :entryIds::int[]')} as e(delivery_id, entry_id)
    where a.session_id = :sessionId and a.delivery_id = e.delivery_id and a.entry_id is null`,
);

/** Notes which entries of the ledger tell of answers. */
export const settleAnswers = async (
  db: Queryable,
  sessionId: string,
  entries: readonly { id: number; deliveryId: number }[],
): Promise<void> => {
  await db.query(settleStatement, {
    sessionId,
    deliveryIds: entries.map(({ deliveryId }) => deliveryId),
    entryIds: entries.map(({ id }) => id),
  });
};

/** An answer that no entry tells of yet. */
export type OpenAnswer = AnswerRow & {
  projectId: string;
  sessionId: string;
  deliveryId: number;
  event: string;
};

const openColumns = `s.project_id as "projectId", s.id as "sessionId", t.delivery_id as "deliveryId", t.event,
  t.status, t.reason, t.sent_to as "sentTo", t.sender, t.duration_ms as "durationMs",
  t.answered_at as "answeredAt"`;

// A host that has not written one down after minutes never will: to tell it on and on would keep its session from
// being idle.
const claimStatement = statement(
  'claim_open_answers',
  `with due as (
     select a.session_id, a.delivery_id from delivery_answers a join sessions s on s.id = a.session_id
      where a.entry_id is null and a.told_at < now() - interval '30 seconds'
        and s.closed_at is null and a.answered_at > now() - interval '10 minutes'
      order by a.told_at limit 500 for update of a skip locked
   ), told as (
     update delivery_answers a set told_at = now() from due
      where a.session_id = due.session_id and a.delivery_id = due.delivery_id
     returning a.*
   )
   select ${openColumns} from told t join sessions s on s.id = t.session_id
    order by s.id, t.delivery_id`,
);

/** Claims some answers that open sessions were sent half a minute ago or more and that no ledger entry holds yet. */
export const claimOpenAnswers = (db: Queryable): Promise<OpenAnswer[]> =>
  db.query<OpenAnswer>(claimStatement, []);

// A host hands its ledger over before it lets go of its session, or with that. One that lost its session in another way
// may deliver entries until it is gone, and its next one would have the number of one that is written here.
const isHandedOver = `s.closed_at is not null and (
  s.closed_at < now() - interval '30 seconds'
  or not exists (select from hosts h where h.id = s.host_id and h.state = 'draining'
                    and h.end_reason not in ('session_closed', 'worn', 'not_clean')))`;

const endedStatement = statement(
  'find_ended_with_answers',
  `select distinct s.id from delivery_answers a join sessions s on s.id = a.session_id
    where a.entry_id is null and ${isHandedOver} limit 100`,
);

/** Some of the sessions that are over and have answers of which no entry tells. */
export const findEndedWithAnswers = async (db: Queryable): Promise<string[]> =>
  (await db.query<{ id: string }>(endedStatement, [])).map(({ id }) => id);

const claimOfStatement = statement(
  'claim_answers_of_ended',
  `select ${openColumns} from sessions s join delivery_answers t on t.session_id = s.id
    where s.id = $1 and t.entry_id is null and ${isHandedOver}
    order by t.delivery_id for update of t`,
);

/** Locks the answers of a session that is over of which no entry tells; none while its host may write them. */
export const claimAnswersOf = (tx: Queryable, sessionId: string): Promise<OpenAnswer[]> =>
  tx.query<OpenAnswer>(claimOfStatement, [sessionId]);

const lastEntryStatement = statement(
  'last_entry',
  `select greatest((select max(id) from requests where session_id = $1),
                   (select greatest(dropped_entries, last_entry) from ledgers where session_id = $1),
                   0) as last`,
);

const answerEntriesStatement = statement(
  'answer_entries',
  `select r.id, r.request::text as "requestJson" from requests r
    where r.session_id = $1 and r.via = 'webhook' and right(r.operation, ${answerSuffix.length}) = '${answerSuffix}'`,
);

/** The number of a session's last entry, and the entries that tell of answers. */
export const findAnswerEntries = async (
  db: Queryable,
  sessionId: string,
): Promise<{ last: number; entries: { id: number; requestJson: string }[] }> => {
  const [[found], entries] = await Promise.all([
    db.query<{ last: number }>(lastEntryStatement, [sessionId]),
    db.query<{ id: number; requestJson: string }>(answerEntriesStatement, [sessionId]),
  ]);
  return { last: found?.last ?? 0, entries };
};

const appendStatement = statement(
  'append_entries',
  `with s as (
     select id, world_id, trace_id from sessions where id = :sessionId and closed_at is not null
   ), ${writeEntries('s')}
   select from s`,
);

/** Writes entries behind the last of a session that is over. */
export const appendEntries = async (
  db: Queryable,
  sessionId: string,
  entries: readonly KeptEntry[],
): Promise<void> => {
  await db.query(appendStatement, { sessionId, ...entryValues(entries) });
};
