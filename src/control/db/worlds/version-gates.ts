/**
 * Versions at the gate of their world: they become its head when their tests pass. Such a version follows the head only
 * where that is the version it was made from, or one that this one was made from in turn: work that became the head
 * meanwhile is never undone.
 */
import type { GateState } from '#domain/world.ts';
import { type Queryable, statement } from '../core/database.ts';

/** The state of a version at the gate, as a column; null: it did not pass through one. */
export const gateOf = (versionId: string): string =>
  `(select g.state from version_gates g where g.version_id = ${versionId})`;

const insertStatement = statement(
  'insert_version_gate',
  `insert into version_gates (version_id, world_id, made_from, name)
   values (:versionId, :worldId, :madeFrom, :name)`,
);

export type NewGate = { versionId: string; worldId: string; madeFrom: string; name: string };

/** Has a version wait at the gate. */
export const insertGate = async (tx: Queryable, gate: NewGate): Promise<void> => {
  await tx.query(insertStatement, gate);
};

const candidateStatement = statement(
  'find_candidate',
  `with recursive chain as (
     select v.id as candidate, g.made_from from versions v join version_gates g on g.version_id = v.id
      where v.world_id = :worldId and v.number = :number
     union
     select chain.candidate, g.made_from from chain join version_gates g on g.version_id = chain.made_from
      where chain.made_from <> :headId
   )
   select candidate as id from chain where made_from = :headId`,
);

/** Returns the id of the version of this number where it was made from the head and is not the head itself. */
export const findCandidate = async (
  db: Queryable,
  of: { worldId: string; headId: string; number: number },
): Promise<string | undefined> => (await db.query<{ id: string }>(candidateStatement, of))[0]?.id;

const passStatement = statement(
  'pass_version_gate',
  `with recursive chain (id) as (
     select made_from from version_gates where version_id = $1
     union
     select g.made_from from chain join version_gates g on g.version_id = chain.id
   ), moved as (
     update worlds w set head_version_id = g.version_id, name = g.name
       from version_gates g
      where g.version_id = $1 and g.state <> 'passed' and w.id = g.world_id and w.deleted_at is null
        and w.head_version_id in (select id from chain)
     returning w.id
   )
   update version_gates
      set state = case when exists (select from moved) then 'passed' else 'outdated' end, settled_at = now()
    where version_id = $1 and state <> 'passed' returning state`,
);

const failStatement = statement(
  'fail_version_gate',
  `update version_gates set state = 'failed', settled_at = now()
    where version_id = $1 and state = 'waiting' returning state`,
);

/**
 * Settles how a version stands at the gate by the tests that were run on it: where they passed it becomes the head, unless
 * the head is one that it was not made from. Undefined for a version that does not wait at one.
 */
export const settleGate = async (
  tx: Queryable,
  versionId: string,
  havePassed: boolean,
): Promise<GateState | undefined> => {
  const settle = havePassed ? passStatement : failStatement;
  return (await tx.query<{ state: GateState }>(settle, [versionId]))[0]?.state;
};
