/**
 * Traces and observations, written many at a time. A row that is new is inserted; one that is there is locked, read,
 * merged in the program and written anew, and only when that changed it. Rows are taken in the order of their keys,
 * so that batches that write the same wait for each other and never in a circle.
 */
import { observationFields, traceFields } from '#observability/object.ts';
import { mergeStates, type State } from '#observability/state.ts';
import { fromStored, type Stored, toStored } from '#observability/stored.ts';
import { type Counts, totalsOf } from '#observability/usage.ts';
import { type Queryable, statement } from './database.ts';
import {
  arraysOf,
  arrayText,
  type Column,
  insertStatement,
  timeText,
  updateStatement,
} from './row-columns.ts';
import { keyOf } from './trace-keys.ts';

type Field<Row> = (row: Row) => unknown;

const column = <Row>(name: string, type: string, of: Field<Row>): Column<Row> => ({
  name,
  type,
  of,
});

/** A row to be written: what it is, where it is, and what is known of it. */
type Write = { projectId: string; key: string; id: string; week: number; stored: Stored };
type TraceWrite = Write & { isStray: boolean };
type ObservationWrite = Write & { traceKey: string; traceId: string };

const valueColumn = <Row extends Write>(name: string, type: string, field: string): Column<Row> =>
  column(name, type, ({ stored }) => stored.values[field]);

const timeColumn = <Row extends Write>(name: string, field: string): Column<Row> =>
  column(name, 'timestamptz', ({ stored }) => timeText((stored.values[field] ?? null) as number));

const common = <Row extends Write>(): Column<Row>[] => [
  column('key', 'uuid', ({ key }) => key),
  column('project_id', 'text', ({ projectId }) => projectId),
  column('id', 'text', ({ id }) => id),
  column('week', 'integer', ({ week }) => week),
  column('began_at', 'timestamptz', ({ stored }) => timeText(stored.beganAt)),
  column('began_is_given', 'boolean', ({ stored }) => stored.beganIsGiven),
  valueColumn('name', 'text', 'name'),
  valueColumn('environment', 'text', 'environment'),
  valueColumn('version', 'text', 'version'),
  valueColumn('input', 'text', 'input'),
  valueColumn('output', 'text', 'output'),
  column('metadata', 'text', ({ stored }) => stored.metadata),
  column('clock', 'text', ({ stored }) => stored.clock),
];

const sessionKey = ({ projectId, stored }: Write): string | null => {
  const { sessionId } = stored.values;
  return typeof sessionId === 'string' && sessionId !== '' ? keyOf(projectId, sessionId) : null;
};

const traceColumns: Column<TraceWrite>[] = [
  ...common<TraceWrite>(),
  valueColumn('user_id', 'text', 'userId'),
  valueColumn('session_id', 'text', 'sessionId'),
  column('session_key', 'uuid', sessionKey),
  valueColumn('release', 'text', 'release'),
  valueColumn('external_id', 'text', 'externalId'),
  valueColumn('is_public', 'boolean', 'public'),
  column('tags', 'text[]', ({ stored }) => arrayText(stored.tags)),
  column('is_stray', 'boolean', ({ isStray }) => isStray),
];

const countsOf = (text: unknown): Counts => (typeof text === 'string' ? JSON.parse(text) : {});

const sums = (prefix: 'usage' | 'cost', type: string): Column<ObservationWrite>[] =>
  (['input', 'output', 'total'] as const).map((side) =>
    column(`${side}_${prefix}`, type, ({ stored }) => {
      const text = stored.values[`${prefix}Json`];
      return typeof text === 'string' ? totalsOf(countsOf(text))[side] : null;
    }),
  );

const observationColumns: Column<ObservationWrite>[] = [
  ...common<ObservationWrite>(),
  column('trace_key', 'uuid', ({ traceKey }) => traceKey),
  column('trace_id', 'text', ({ traceId }) => traceId),
  valueColumn('type', 'text', 'type'),
  valueColumn('parent_id', 'text', 'parentId'),
  timeColumn('end_time', 'endTime'),
  timeColumn('completion_start_time', 'completionStartTime'),
  valueColumn('level', 'text', 'level'),
  valueColumn('status_message', 'text', 'statusMessage'),
  valueColumn('model', 'text', 'model'),
  valueColumn('model_parameters', 'text', 'modelParametersJson'),
  valueColumn('usage', 'text', 'usageJson'),
  valueColumn('cost', 'text', 'costJson'),
  ...sums('usage', 'bigint'),
  ...sums('cost', 'double precision'),
  valueColumn('prompt_name', 'text', 'promptName'),
  valueColumn('prompt_version', 'integer', 'promptVersion'),
];

/** The columns of a row's state, as the program names them. */
const storedColumns = `began_at as "beganAt", began_is_given as "beganIsGiven", metadata, clock`;

const traceValues = `name, user_id as "userId", session_id as "sessionId", environment, release, version,
  external_id as "externalId", is_public as "public", input, output`;

const observationValues = `type, name, parent_id as "parentId", end_time as "endTime",
  completion_start_time as "completionStartTime", level, status_message as "statusMessage", version, environment,
  model, model_parameters as "modelParametersJson", usage as "usageJson", cost as "costJson",
  prompt_name as "promptName", prompt_version as "promptVersion", input, output`;

type StateRow = { beganAt: Date; beganIsGiven: boolean; metadata: string | null; clock: string } & {
  [field: string]: unknown;
};

/** The state of a row that was read. */
const stateOf = (row: StateRow, fields: readonly string[]): State => {
  const values = fields.map((field) => {
    const value = row[field];
    return [field, value instanceof Date ? value.getTime() : (value ?? null)];
  });
  return fromStored({
    beganAt: row.beganAt.getTime(),
    beganIsGiven: row.beganIsGiven,
    values: Object.fromEntries(values),
    tags: (row.tags ?? []) as string[],
    metadata: row.metadata,
    clock: row.clock,
  });
};

const isSame = (one: Stored, other: Stored): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

const insertTraces = insertStatement('insert_traces', 'traces', traceColumns, 'key');
const updateTraces = updateStatement('update_traces', 'traces', traceColumns, ['key']);

const lockTraces = statement(
  'lock_traces',
  `select key, week, ${storedColumns}, ${traceValues}, tags, is_stray as "isStray" from traces
    where key = any($1::uuid[]) order by key for update`,
);

const placeStatement = statement(
  'place_traces',
  `select key, week, began_at as "beganAt", began_is_given as "beganIsGiven" from traces
    where key = any($1::uuid[]) and not is_stray`,
);

/** A trace to write, by what a batch says of it. */
export type TraceChange = { id: string; state: State; isStray: boolean };

const dashless = (key: string): string => key.replaceAll('-', '');

/** Whether a trace was only heard of: an observation names it and says nothing else. */
const isShallow = ({ state, isStray }: TraceChange): boolean =>
  !isStray &&
  state.at === null &&
  state.tags.length === 0 &&
  state.metadata.length === 0 &&
  Object.keys(state.values).length === 0;

/** Weeks of those that are only heard of and there already, as long as they are to begin no earlier. */
const placeShallow = async (
  tx: Queryable,
  changes: ReadonlyMap<string, TraceChange>,
): Promise<Map<string, number>> => {
  const keys = [...changes].filter(([, change]) => isShallow(change)).map(([key]) => key);
  if (keys.length === 0) return new Map();
  type Row = { key: string; week: number; beganAt: Date; beganIsGiven: boolean };
  const rows = await tx.query<Row>(placeStatement, [keys]);
  const placed = rows.flatMap(({ key, week, beganAt, beganIsGiven }): [string, number][] => {
    const change = changes.get(dashless(key));
    const isEarlier = change !== undefined && change.state.guessedAt < beganAt.getTime();
    return beganIsGiven || !isEarlier ? [[dashless(key), week]] : [];
  });
  return new Map(placed);
};

const mergeTraces = async (
  tx: Queryable,
  projectId: string,
  changes: ReadonlyMap<string, TraceChange>,
): Promise<Map<string, number>> => {
  type Row = StateRow & { key: string; week: number; isStray: boolean };
  const rows = await tx.query<Row>(lockTraces, [[...changes.keys()]]);
  const weeks = new Map<string, number>();
  const writes: TraceWrite[] = [];
  for (const row of rows) {
    const key = dashless(row.key);
    weeks.set(key, row.week);
    const change = changes.get(key);
    if (change === undefined) continue;
    const known = stateOf(row, traceFields);
    const stored = toStored(mergeStates(known, change.state), traceFields);
    const isStray = row.isStray && change.isStray;
    if (isStray === row.isStray && isSame(toStored(known, traceFields), stored)) continue;
    writes.push({ projectId, key, id: change.id, week: row.week, stored, isStray });
  }
  if (writes.length > 0) await tx.query(updateTraces, arraysOf(traceColumns, writes));
  return weeks;
};

/** Writes what a batch says of traces, each by its key; returns the week of each. */
export const writeTraces = async (
  tx: Queryable,
  projectId: string,
  changes: ReadonlyMap<string, TraceChange>,
  week: number,
): Promise<Map<string, number>> => {
  const weeks = await placeShallow(tx, changes);
  const fresh = [...changes].filter(([key]) => !weeks.has(key));
  if (fresh.length === 0) return weeks;
  const writes = fresh.map(([key, { id, state, isStray }]) => {
    const stored = toStored(state, traceFields);
    return { projectId, key, id, week, stored, isStray };
  });
  const inserted = await tx.query<{ key: string }>(insertTraces, arraysOf(traceColumns, writes));
  for (const { key } of inserted) weeks.set(dashless(key), week);
  const there = new Map(fresh.filter(([key]) => !weeks.has(key)));
  if (there.size === 0) return weeks;
  const merged = await mergeTraces(tx, projectId, there);
  return new Map([...weeks, ...merged]);
};

/** An observation to write, in a trace whose week is known. */
export type ObservationChange = { id: string; traceId: string; week: number; state: State };

const observationKeys = ['trace_key', 'key', 'week'];
const insertObservations = insertStatement(
  'insert_observations',
  'observations',
  observationColumns,
  'trace_key, key',
);
const updateObservations = updateStatement(
  'update_observations',
  'observations',
  observationColumns,
  observationKeys,
);

const lockObservations = statement(
  'lock_observations',
  `select o.trace_key as "traceKey", o.key, ${storedColumns}, ${observationValues} from observations o
     join unnest($1::uuid[], $2::uuid[], $3::integer[]) as given(trace_key, key, week)
          using (trace_key, key, week)
    order by o.trace_key, o.key for update of o`,
);

const writeOf = (projectId: string, change: ObservationChange): ObservationWrite => ({
  projectId,
  key: keyOf(projectId, change.id),
  id: change.id,
  week: change.week,
  traceKey: keyOf(projectId, change.traceId),
  traceId: change.traceId,
  stored: toStored(change.state, observationFields),
});

const placeOf = ({ traceKey, key }: { traceKey: string; key: string }): string =>
  `${dashless(traceKey)}${dashless(key)}`;

const mergeObservations = async (
  tx: Queryable,
  there: ReadonlyMap<string, { write: ObservationWrite; change: ObservationChange }>,
): Promise<void> => {
  const asked = [...there.values()].map(({ write }) => write);
  const rows = await tx.query<StateRow & { traceKey: string; key: string }>(lockObservations, [
    asked.map(({ traceKey }) => traceKey),
    asked.map(({ key }) => key),
    asked.map(({ week }) => week),
  ]);
  const writes = rows.flatMap((row) => {
    const given = there.get(placeOf(row));
    if (given === undefined) return [];
    const known = stateOf(row, observationFields);
    const stored = toStored(mergeStates(known, given.change.state), observationFields);
    return isSame(toStored(known, observationFields), stored) ? [] : [{ ...given.write, stored }];
  });
  if (writes.length > 0) await tx.query(updateObservations, arraysOf(observationColumns, writes));
};

/** Writes what a batch says of observations, each of which is named once. */
export const writeObservations = async (
  tx: Queryable,
  projectId: string,
  changes: readonly ObservationChange[],
): Promise<void> => {
  if (changes.length === 0) return;
  const writes = changes.map((change) => ({ change, write: writeOf(projectId, change) }));
  const rows = writes.map(({ write }) => write);
  const inserted = await tx.query<{ key: string }>(
    insertObservations,
    arraysOf(observationColumns, rows),
  );
  if (inserted.length === rows.length) return;
  // Which of them are there already is not told by a key alone: one may be in two traces.
  const there = new Map(writes.map((given) => [placeOf(given.write), given]));
  await mergeObservations(tx, there);
};

const sessionsStatement = statement(
  'insert_trace_sessions',
  `insert into trace_sessions (key, project_id, id, environment)
   select key, $1, id, environment from unnest($2::uuid[], $3::text[], $4::text[]) as s(key, id, environment)
    order by key
   on conflict do nothing`,
);

/** Notes sessions that are new, with the environment in which they were first seen. */
export const noteSessions = async (
  tx: Queryable,
  projectId: string,
  environments: ReadonlyMap<string, string>,
): Promise<void> => {
  if (environments.size === 0) return;
  const ids = [...environments.keys()];
  const keys = ids.map((id) => keyOf(projectId, id));
  await tx.query(sessionsStatement, [projectId, keys, ids, [...environments.values()]]);
};

const rememberStatement = statement(
  'remember_events',
  `insert into ingested_events (key, week)
   select key, $2 from unnest($1::uuid[]) as given(key)
    where not exists (select from ingested_events known where known.key = given.key and known.week = $2 - 1)
    order by key
   on conflict do nothing returning key`,
);

/** Remembers events by their ids; those that were not known are returned. */
export const rememberEvents = async (
  tx: Queryable,
  projectId: string,
  ids: readonly string[],
  week: number,
): Promise<Set<string>> => {
  const keys = new Map(ids.map((id) => [keyOf(projectId, id), id]));
  const rows = await tx.query<{ key: string }>(rememberStatement, [[...keys.keys()], week]);
  return new Set(rows.map(({ key }) => keys.get(dashless(key)) ?? ''));
};

const findTraceOfStatement = statement(
  'find_traces_of_observations',
  `select distinct on (key) key, trace_id as "traceId" from observations where key = any($1::uuid[])
    order by key, created_at`,
);

/** The traces that observations are in, by the observations' ids; of those that are not there there is none. */
export const findTracesOf = async (
  tx: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, string>> => {
  if (ids.length === 0) return new Map();
  const keys = new Map(ids.map((id) => [keyOf(projectId, id), id]));
  const rows = await tx.query<{ key: string; traceId: string }>(findTraceOfStatement, [
    [...keys.keys()],
  ]);
  return new Map(rows.map(({ key, traceId }) => [keys.get(dashless(key)) ?? '', traceId]));
};

const strayStatement = statement(
  'take_stray_observations',
  `with stray as (
     select key, week from traces where key = any($1::uuid[]) and is_stray order by key for update
   ), taken as (
     delete from observations o using stray s
      where o.trace_key = s.key and o.key = s.key and o.week = s.week returning o.*
   ), gone as (
     delete from traces t using stray s where t.key = s.key
   )
   select id, ${storedColumns}, ${observationValues} from taken`,
);

/**
 * Takes observations out of the traces that were made for them while no event had named one. Returns what was known
 * of each, for it to be written where it belongs.
 */
export const takeStrays = async (
  tx: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, State>> => {
  if (ids.length === 0) return new Map();
  const keys = ids.map((id) => keyOf(projectId, id));
  const rows = await tx.query<StateRow & { id: string }>(strayStatement, [keys]);
  return new Map(rows.map((row) => [row.id, stateOf(row, observationFields)]));
};
