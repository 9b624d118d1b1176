/**
 * Reads what changed in a session since its task began, and finds which changed rows match a condition, in their state
 * before or now. The cost depends only on the number of changes. Conditions are queried in a small database of the
 * changed rows, by the same SQL that queries the whole world, so a condition means the same in both.
 *
 * Above a maximum number, changed rows are only counted, so no check can explain them.
 */
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Contract, type EntityContract, linkedTool, type Row } from '#language/contract.ts';
import { valueAtPath } from '#language/field-path.ts';
import { conditionOf, filtersOfConditions } from '#store/read/filter.ts';
import { createCatalog } from '#store/tables/catalog.ts';
import { openEmpty } from '#store/tables/open.ts';
import type { RowDifference } from '#store/write/state-before.ts';
import type { RowChange } from '#store/write/write-set.ts';
import type { LoadedWorld, Session } from '../../session/session.ts';

/** Row that differs from the state in which the task began. */
export type ChangedRow = {
  /** Public name of the entity; `<alias>.<entity>` for a linked world. */
  entity: string;
  /** Primary key, as a JSON list. */
  key: string;
  change: RowChange['change'];
  /** Payload texts of the row before and now; null if the row does not exist at that moment. */
  before: string | null;
  after: string | null;
  /** Names of the fields that differ; all fields for a row that was inserted or deleted. */
  fields: readonly string[];
};

export type Moment = 'before' | 'after';

/** Changed rows of one entity. */
export type ChangedEntity = {
  contract: EntityContract;
  /** Rows that exist now, in the order of their positions, then deleted rows. */
  rows: readonly ChangedRow[];
  /** Returns the indexes of the rows that match. Throws `StoreRefusal` for an invalid condition. */
  matching(moment: Moment, where: Row): ReadonlySet<number>;
};

export type ChangedState = {
  /** Entities with a changed row, by name, in the order in which the contracts list them. */
  entities: ReadonlyMap<string, ChangedEntity>;
  /** Numbers of all changes by kind, including changes that were not read. */
  counts: Record<ChangedRow['change'], number>;
  /** Number of changes that were only counted, because they exceed the maximum. */
  beyond: number;
  /** Approximate size of the rows that were read: the number of characters in their payloads. */
  bytes: number;
  close(): void;
};

export type ChangeLimits = { rows: number; bytes: number };

const defaultLimits: ChangeLimits = { rows: 100_000, bytes: 32 * 1024 * 1024 };

/** Number of rows after which the loop pauses so that other work can run. */
const rowsAtOnce = 500;

const parse = (payload: string): Row => JSON.parse(payload) as Row;

/** Returns the top-level fields in which two rows differ, regardless of the order of their members. */
export const differingFields = (before: Row, after: Row): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (field) => !isDeepStrictEqual(valueAtPath(before, [field]), valueAtPath(after, [field])),
  );

/** Returns the row as a change; undefined if only the JSON text differs and not the value. */
const toChange = (
  entity: string,
  { key, before, after }: RowDifference,
): ChangedRow | undefined => {
  if (before === null || after === null) {
    const fields = Object.keys(parse(before ?? after ?? '{}'));
    const change = before === null ? 'inserted' : 'deleted';
    return { entity, key, change, before, after, fields };
  }
  const fields = differingFields(parse(before), parse(after));
  if (fields.length === 0) return undefined;
  return { entity, key, change: 'updated', before, after, fields };
};

/** Opens a database of the changed rows in their state at one moment. The position of each row is its index. */
const openRows = (
  { entity, definitions }: { entity: EntityContract; definitions: Contract['definitions'] },
  rows: readonly ChangedRow[],
  moment: Moment,
) => {
  // The rows fit the world already, and the rows that they refer to are not here.
  const alone = { ...entity, relationships: [], unique: [] };
  const db = openEmpty({ entities: [alone] });
  const catalogued = createCatalog({ entities: [alone], definitions }).entity(entity.name);
  const { table, position } = catalogued;
  db.exec('BEGIN');
  const insert = db.prepare(`INSERT INTO ${table} (${position}, _key, payload) VALUES (?, ?, ?)`);
  for (const [index, row] of rows.entries()) {
    if (row[moment] !== null) insert.run(index, row.key, row[moment]);
  }
  return {
    db,
    matching(where: Row): ReadonlySet<number> {
      const { sql, values } = conditionOf(catalogued, filtersOfConditions(entity.name, where));
      const text = `SELECT ${position} AS at FROM ${table} WHERE 1${sql} ORDER BY ${position}`;
      return new Set(
        db
          .prepare(text)
          .all(...values)
          .map(({ at }) => at as number),
      );
    },
  };
};

const createEntity = (
  entity: EntityContract,
  definitions: Contract['definitions'],
  opened: DatabaseSync[],
): ChangedEntity & { rows: ChangedRow[] } => {
  const rows: ChangedRow[] = [];
  const databases = new Map<Moment, ReturnType<typeof openRows>>();
  return {
    contract: entity,
    rows,
    matching(moment, where) {
      let database = databases.get(moment);
      if (database === undefined) {
        database = openRows({ entity, definitions }, rows, moment);
        databases.set(moment, database);
        opened.push(database.db);
      }
      return database.matching(where);
    },
  };
};

/** Returns the worlds of a session, each with a function that maps an entity to its public name. */
export const worldsOf = ({
  world,
  links,
}: Pick<Session, 'world' | 'links'>): [LoadedWorld, (entity: string) => string][] => [
  [world, (entity) => entity],
  ...[...links].map(([alias, linked]): [LoadedWorld, (entity: string) => string] => [
    linked.world,
    (entity) => linkedTool(alias, entity),
  ]),
];

/** Reads the changes. Call it while nothing changes the rows, and close the result afterwards. */
export const readChanges = async (
  session: Pick<Session, 'world' | 'links'>,
  limits: ChangeLimits = defaultLimits,
): Promise<ChangedState> => {
  const entities = new Map<string, ChangedEntity & { rows: ChangedRow[] }>();
  const opened: DatabaseSync[] = [];
  const counts = { inserted: 0, updated: 0, deleted: 0 };
  let seen = 0;
  let beyond = 0;
  let bytes = 0;
  for (const [{ store, contract }, nameOf] of worldsOf(session)) {
    const byName = new Map(contract.entities.map((entity) => [entity.name, entity]));
    for (const difference of store.changesSinceTask()) {
      seen += 1;
      if (seen % rowsAtOnce === 0) await setImmediate();
      const name = nameOf(difference.entity);
      const change = toChange(name, difference);
      if (change === undefined) continue;
      counts[change.change] += 1;
      const size = (change.before?.length ?? 0) + (change.after?.length ?? 0);
      if (beyond > 0 || bytes + size > limits.bytes || seen > limits.rows) {
        beyond += 1;
        continue;
      }
      bytes += size;
      const entity = byName.get(difference.entity) as EntityContract;
      const known = entities.get(name) ?? createEntity(entity, contract.definitions, opened);
      entities.set(name, known);
      known.rows.push(change);
    }
  }
  return {
    entities,
    counts,
    beyond,
    bytes,
    close() {
      for (const db of opened) db.close();
    },
  };
};
