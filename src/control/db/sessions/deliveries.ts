/**
 * Webhook deliveries, which are entries in the ledgers of sessions, and the responses of the receivers. Senders and
 * clients read deliveries here. They also record the response here; if there are several, the first one is stored. A
 * delivery is identified by its session and the number of its ledger entry. The numbers continue when the session is
 * reset.
 */
import { answerSuffix, type DeliverySender } from '#domain/ledger.ts';
import type { KeptEntry } from '../../base/bodies/ledger-entry.ts';
import { type Queryable, statement } from '../core/database.ts';
import { rowsOf } from '../core/parameters.ts';
import { entryValues, writeEntries } from './requests.ts';

/** SQL condition that a ledger entry `r` is a delivery, and not the response to a delivery. */
export const isDelivery = `r.via = 'webhook' and right(r.operation, ${answerSuffix.length}) <> '${answerSuffix}'`;

/** Response of a receiver to a delivery. */
export type AnswerRow = {
  /** HTTP status; 0 if there was no response. In that case, `reason` says why. */
  status: number;
  reason: string | null;
  /** Address to which the delivery was sent, if it differs from the registered address; otherwise null. */
  sentTo: string | null;
  sender: DeliverySender;
  durationMs: number;
  answeredAt: Date;
};

export type DeliveryRow = {
  /** Number of the delivery's entry in the ledger of the session. */
  id: number;
  at: Date;
  event: string;
  /** Delivery as JSON text, as the host wrote it; see `readDelivery`. */
  requestJson: string;
  answer: AnswerRow | null;
};

type ListedRow = Omit<DeliveryRow, 'answer'> &
  Omit<AnswerRow, 'status'> & {
    status: number | null;
  };

// Deliveries after the first that exceeds the byte limit are left for the next page.
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

/** Lists deliveries of a session whose numbers are greater than `after`, in order. */
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

/** Returns the number of a session's last delivery; 0 if the session has none. */
export const findLastDelivery = async (db: Queryable, sessionId: string): Promise<number> =>
  (await db.query<{ last: number }>(lastStatement, [sessionId]))[0]?.last ?? 0;

/** Response to record. */
export type NewDeliveryAnswer = Pick<AnswerRow, 'status' | 'reason' | 'sentTo' | 'durationMs'> & {
  deliveryId: number;
};

/** Response that is stored: recorded by this request (`isNew` is true) or by an earlier one. */
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
 * Records responses to those deliveries of a session that have none yet. Returns the stored response of each delivery.
 * Unknown deliveries are left out.
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

/** Records, for each response, the ledger entry that contains it. */
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

/** Response that no ledger entry contains yet. */
export type OpenAnswer = AnswerRow & {
  projectId: string;
  sessionId: string;
  deliveryId: number;
  event: string;
};

const openColumns = `s.project_id as "projectId", s.id as "sessionId", t.delivery_id as "deliveryId", t.event,
  t.status, t.reason, t.sent_to as "sentTo", t.sender, t.duration_ms as "durationMs",
  t.answered_at as "answeredAt"`;

// A host that has not written a response after ten minutes never will. Sending it again and again would keep its
// session from becoming idle.
const claimStatement = statement(
  'claim_open_answers',
  `with due as (
     select a.session_id, a.delivery_id from delivery_answers a join sessions s on s.id = a.session_id
      where a.entry_id is null and a.told_at < now() - interval '30 seconds'
        and s.closed_at is null and a.answered_at > now() - interval '10 minutes'
      order by a.told_at limit 500 for update of a skip locked
   ), claimed as (
     update delivery_answers a set told_at = now() from due
      where a.session_id = due.session_id and a.delivery_id = due.delivery_id
     returning a.*
   )
   select ${openColumns} from claimed t join sessions s on s.id = t.session_id
    order by s.id, t.delivery_id`,
);

/**
 * Claims responses that no ledger entry contains yet and whose sessions are open. Responses that were sent to their
 * session within the last 30 s are left out.
 */
export const claimOpenAnswers = (db: Queryable): Promise<OpenAnswer[]> =>
  db.query<OpenAnswer>(claimStatement, []);

// A host hands over its ledger before it releases its session, or together with that. If a host lost its session in
// another way, it may deliver entries until it is gone. Its next entry would have the number of one written here.
const isHandedOver = `s.closed_at is not null and (
  s.closed_at < now() - interval '30 seconds'
  or not exists (select from hosts h where h.id = s.host_id and h.state = 'draining'
                    and h.end_reason not in ('session_closed', 'worn', 'not_clean')))`;

const endedStatement = statement(
  'find_ended_with_answers',
  `select distinct s.id from delivery_answers a join sessions s on s.id = a.session_id
    where a.entry_id is null and ${isHandedOver} limit 100`,
);

/** Returns some of the closed sessions that have responses which no ledger entry contains. */
export const findEndedWithAnswers = async (db: Queryable): Promise<string[]> =>
  (await db.query<{ id: string }>(endedStatement, [])).map(({ id }) => id);

const claimOfStatement = statement(
  'claim_answers_of_ended',
  `select ${openColumns} from sessions s join delivery_answers t on t.session_id = s.id
    where s.id = $1 and t.entry_id is null and ${isHandedOver}
    order by t.delivery_id for update of t`,
);

/**
 * Locks those responses of a closed session that no ledger entry contains. Returns none as long as the session's host
 * may still write them.
 */
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

/** Returns the number of the last ledger entry of a session, and the entries that contain responses. */
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

/** Appends entries to the ledger of a closed session. */
export const appendEntries = async (
  db: Queryable,
  sessionId: string,
  entries: readonly KeptEntry[],
): Promise<void> => {
  await db.query(appendStatement, { sessionId, ...entryValues(entries) });
};
