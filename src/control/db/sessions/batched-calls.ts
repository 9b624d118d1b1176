/**
 * Writes calls and answers of many sessions in batches, with one statement and one commit for each batch. For each
 * call, the statement checks the same conditions as the statement that writes a single call. It leaves out calls that
 * do not meet them, and writes the others. It also leaves out sessions that another transaction has locked. So no call
 * waits for the lock of another call's session, and transactions that lock several sessions cause no deadlock. A call
 * that was left out is written alone (`calls.ts`, `host-calls.ts`): that statement waits for the lock, and determines
 * whether the call is refused.
 */

import { type Queryable, statement } from '../core/database.ts';
import { isValueError } from '../core/errors.ts';
import { keysOf } from '../core/parameters.ts';
import {
  callBefore,
  openSessionStates,
  readySessionStates,
  sessionBefore,
} from '../core/states.ts';
import { type BatchLimits, createWriteBatcher } from '../core/write-batcher.ts';
import {
  alwaysQueued,
  type CallRow,
  callColumns,
  insertCall,
  type NewCall,
  type SessionHost,
} from './calls.ts';
import {
  type Answered,
  type AnswerRow,
  answerCall,
  answeredOf,
  enqueueGrades,
  type NewAnswer,
} from './host-calls.ts';
import { noteGrade } from './last-grade.ts';

/** Call to insert, and the host that is polling for its session. */
export type GivenCall = {
  call: NewCall;
  waiting: Omit<SessionHost, 'sessionId'> | undefined;
};

/** Answer to record. */
export type GivenAnswer = { host: SessionHost; answer: NewAnswer; isStopping: boolean };

// Sessions and calls have to be found by their ids. The planner may rate indexes by project, session or state as
// equally cheap. It then reads all calls of a session, or all calls anywhere that were open since the last vacuum.
// Appending an empty text (`|| ''`) keeps those indexes out of the plan.
const insertStatement = statement(
  'insert_calls',
  `with given as (
     select * from ${keysOf(`:ids::text[], :projectIds::text[], :sessionIds::text[], :kinds::text[],
              :names::text[], :inputs::text[], :keepWarms::boolean[], :keys::text[], :hashes::text[],
              :traceParents::text[], :hostIds::text[], :generations::int[]`)}
       as g(id, project_id, session_id, kind, name, input, keep_warm, key, hash, trace_parent, host_id, generation)
   ), free as materialized (
     select g.* from given g cross join lateral (
       select from sessions s
        where s.id = g.session_id and s.project_id || '' = g.project_id
          and s.state || '' in ${openSessionStates} and s.open_calls < ${alwaysQueued}
          for no key update skip locked
     ) s
   ), taken as (
     update sessions s
        set last_seq = s.last_seq + 1, open_calls = s.open_calls + 1, last_activity_at = now()
       from free f where s.id = f.session_id
     returning f.*, s.last_seq, s.generation as serving,
       s.open_calls = 1 and s.state in ${readySessionStates} and s.host_id = f.host_id
         and s.generation = f.generation as at_once
   )
   insert into calls as c (id, session_id, seq, kind, name, input, idempotency_key, request_hash,
                           keep_warm, trace_parent, state, generation, claimed_at)
   select t.id, t.session_id, t.last_seq, t.kind, t.name, t.input::json, t.key, t.hash, t.keep_warm,
          t.trace_parent,
          case when t.at_once then 'claimed' else 'queued' end,
          case when t.at_once then t.serving end, case when t.at_once then now() end
     from taken t
   returning ${callColumns}`,
);

const insertTogether = (db: Queryable, given: readonly GivenCall[]): Promise<CallRow[]> => {
  const calls = given.map(({ call }) => call);
  return db.query<CallRow>(insertStatement, {
    ids: calls.map(({ id }) => id),
    projectIds: calls.map(({ projectId }) => projectId),
    sessionIds: calls.map(({ sessionId }) => sessionId),
    kinds: calls.map(({ kind }) => kind),
    names: calls.map(({ name }) => name),
    inputs: calls.map(({ inputJson }) => inputJson),
    keepWarms: calls.map(({ keepWarm }) => keepWarm),
    keys: calls.map(({ idempotencyKey }) => idempotencyKey),
    hashes: calls.map(({ requestHash }) => requestHash),
    traceParents: calls.map(({ traceParent }) => traceParent),
    hostIds: given.map(({ waiting }) => waiting?.hostId ?? null),
    generations: given.map(({ waiting }) => waiting?.generation ?? null),
  });
};

const answerStatement = statement(
  'answer_calls',
  `with given as (
     select * from ${keysOf(`:sessionIds::text[], :hostIds::text[], :generations::int[], :callIds::text[],
              :states::text[], :outputs::text[], :errors::text[], :shortErrors::text[],
              :changes::text[], :areStopping::boolean[]`)}
       as g(session_id, host_id, generation, call_id, state, output, error, short_error, changes, stopping)
   ), free as materialized (
     select g.*, s.session_state, s.trace_id from given g cross join lateral (
       select s.state as session_state, s.trace_id from sessions s
        where s.id = g.session_id and s.host_id = g.host_id and s.generation = g.generation
          for no key update skip locked
     ) s
   ), answered as (
     update calls c
        set state = f.state, output = f.output::json, error = f.error::json,
            short_error = f.short_error::json, changes = f.changes::json, answered_at = now()
       from free f
      where c.id = f.call_id and c.session_id || '' = f.session_id and c.generation = f.generation
        and c.state || '' in ${callBefore('succeeded')}
     returning c.*, f.stopping, f.trace_id,
       c.kind = 'close' and c.state = 'succeeded'
         and f.session_state in ${sessionBefore('CLOSING')} as closing
   ), ${enqueueGrades('answered')}, touched as (
     update sessions s
        set open_calls = s.open_calls - 1, last_activity_at = now(),
            ${noteGrade('a', 's')},
            state = case when a.closing then 'CLOSING' else s.state end,
            state_since = case when a.closing then now() else s.state_since end,
            end_reason = case when a.closing then 'requested' else s.end_reason end,
            keep_warm = case when a.closing then a.keep_warm else s.keep_warm end
       from answered a where s.id = a.session_id
     returning s.id, s.state, s.keep_warm, s.generation,
       s.open_calls > 0 and s.state in ${readySessionStates} and not a.stopping as goes_on
   ), next as (
     update calls c set state = 'claimed', generation = n.generation, claimed_at = now()
       from (select t.generation, (select q.id from calls q
                where q.session_id = t.id and q.state in ${callBefore('claimed')} order by q.seq limit 1) as id
               from touched t where t.goes_on) n
      where c.id = n.id and c.state || '' in ${callBefore('claimed')}
     returning c.*
   )
   select ${callColumns},
          t.state as "sessionState", t.keep_warm as "keepWarm",
          next.id as "nextId", next.seq as "nextSeq", next.kind as "nextKind",
          next.name as "nextName", next.input::text as "nextInput"
     from answered c join touched t on t.id = c.session_id left join next on next.session_id = t.id`,
);

const answerTogether = (db: Queryable, given: readonly GivenAnswer[]): Promise<AnswerRow[]> => {
  const hosts = given.map(({ host }) => host);
  const answers = given.map(({ answer }) => answer);
  return db.query<AnswerRow>(answerStatement, {
    sessionIds: hosts.map(({ sessionId }) => sessionId),
    hostIds: hosts.map(({ hostId }) => hostId),
    generations: hosts.map(({ generation }) => generation),
    callIds: answers.map(({ callId }) => callId),
    states: answers.map(({ state }) => state),
    outputs: answers.map(({ outputJson }) => outputJson),
    errors: answers.map(({ errorJson }) => errorJson),
    shortErrors: answers.map(({ shortErrorJson }) => shortErrorJson),
    changes: answers.map(({ changesJson }) => changesJson),
    areStopping: given.map(({ isStopping }) => isStopping),
  });
};

/** Returns the rows in the order of the given ids; undefined for an id without a row. */
const inOrder = <Row extends { id: string }>(
  ids: readonly string[],
  rows: readonly Row[],
): (Row | undefined)[] => {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
};

/**
 * Maximum size of a call that is written in a batch, in characters. Longer calls are written alone: most of their time
 * is spent on the data, so a shared commit would save little.
 */
const mostChars = 64 * 1024;
/**
 * Limits of the batches. With two batches in progress, one is encoded and sent while PostgreSQL executes the other.
 * Each batch takes everything that arrives within `gatherMs`, because fewer statements make each call cheaper.
 */
const groupLimits: BatchLimits = { groups: 2, items: 64, gatherMs: 1, waiting: 2_000 };

export type CallWrites = {
  /** Inserts a call. Returns undefined in the cases of `insertCall`. */
  insert(given: GivenCall, usualQueued: number): Promise<CallRow | undefined>;
  /** Records an answer. Returns undefined in the cases of `answerCall`. */
  answer(given: GivenAnswer): Promise<Answered | undefined>;
};

/** Creates the object that writes concurrent calls and answers in batches. */
export const createCallWrites = (db: Queryable): CallWrites => {
  const inserts = createWriteBatcher<GivenCall, CallRow>({
    limits: groupLimits,
    ownerOf: ({ call }) => call.projectId,
    keyOf: ({ call }) => call.sessionId,
    together: async (given) => {
      const ids = given.map(({ call }) => call.id);
      return inOrder(ids, await insertTogether(db, given));
    },
    isOfOne: isValueError,
  });
  const answers = createWriteBatcher<GivenAnswer, Answered>({
    limits: groupLimits,
    ownerOf: ({ host }) => host.sessionId,
    keyOf: ({ host }) => host.sessionId,
    together: async (given) => {
      const ids = given.map(({ answer }) => answer.callId);
      const rows = inOrder(ids, await answerTogether(db, given));
      return rows.map((row) => (row === undefined ? undefined : answeredOf(row)));
    },
    isOfOne: isValueError,
  });
  return {
    async insert(given, usualQueued) {
      const { call, waiting } = given;
      const isShort = call.inputJson.length <= mostChars;
      const row = isShort ? await inserts.take(given) : undefined;
      return row ?? insertCall(db, call, waiting, usualQueued);
    },
    async answer(given) {
      const { host, answer, isStopping } = given;
      const texts = [answer.outputJson, answer.errorJson, answer.changesJson];
      const isShort = texts.every((text) => (text?.length ?? 0) <= mostChars);
      const answered = isShort ? await answers.take(given) : undefined;
      return answered ?? answerCall(db, host, answer, isStopping);
    },
  };
};
