/**
 * Gates of versions: a version at a gate becomes the head of its world when its tests pass. It replaces the head only
 * if it is based on the head, directly or through other versions. So a version that became the head in the meantime is
 * never undone.
 */
import type { GateState } from '#domain/world.ts';
import { type Queryable, statement } from '../core/database.ts';

/** Returns the SQL for a column with the gate's state for a version; null if the version had no gate. */
export const gateOf = (versionId: string): string =>
  `(select g.state from version_gates g where g.version_id = ${versionId})`;

const insertStatement = statement(
  'insert_version_gate',
  `insert into version_gates (version_id, world_id, made_from, name)
   values (:versionId, :worldId, :madeFrom, :name)`,
);

export type NewGate = { versionId: string; worldId: string; madeFrom: string; name: string };

/** Adds a gate at which the version waits for its tests. */
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

/**
 * Returns the id of the version with this number if it waits at a gate and is based on the head, directly or through
 * other versions; otherwise undefined.
 */
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
 * Settles the gate of a version by the result of the version's tests. If they passed and the version is based on the
 * current head, the version becomes the head. Returns the new state of the gate; undefined if the version does not wait
 * at a gate.
 */
export const settleGate = async (
  tx: Queryable,
  versionId: string,
  havePassed: boolean,
): Promise<GateState | undefined> => {
  const settle = havePassed ? passStatement : failStatement;
  return (await tx.query<{ state: GateState }>(settle, [versionId]))[0]?.state;
};
