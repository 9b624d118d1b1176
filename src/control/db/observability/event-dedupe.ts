/**
 * Deduplicates events: a repeated event has no effect. A row contains the events of one trace that were made within the
 * same ten minutes. A client that repeats an event sends the same trace and time, and most batches are about few
 * traces. So to deduplicate a batch of hundreds of events, one or two rows are read.
 */
import { type Queryable, statement } from '../core/database.ts';
import { rowsOf } from '../core/parameters.ts';
import { numberOf } from './event-number.ts';
import { dashless, keyList, keyOf } from './trace-keys.ts';

/** Fields of an event that deduplication needs. */
export type DedupeKey = {
  id: string;
  /** Trace that the event is about; if the event names no trace, the object that it is about. */
  about: string;
  /** Time at which the event was made, in milliseconds since 1970. */
  madeAt: number;
};

/** Time span of one row, in milliseconds. It limits the size of a row, however long a trace continues. */
const rowSpanMs = 600_000;

/** Appends the given events to their rows, and returns which of them the rows already contained. */
const takeStatement = statement(
  'take_events',
  `with given as materialized (
     select key, events::bigint[] as events from ${rowsOf(':keys::uuid[], :events::text[]')} as g(key, events)
   ), taken as (
     insert into taken_events as there (key, week, events) select key, :week::integer, events from given order by key
     on conflict (key, week) do update set events = there.events || excluded.events
     returning key, events
   ), known as (
     select t.key, t.events[1:cardinality(t.events) - cardinality(g.events)] as events
       from taken t join given g using (key) where cardinality(t.events) > cardinality(g.events)
     union all
     select k.key, k.events from given g join taken_events k using (key) where k.week = :week - 1
   )
   select key, array(select unnest(g.events) intersect select unnest(k.events))::float8[] as events
     from known k join given g using (key)`,
);

/**
 * Returns a function that computes the row key of an event. It remembers keys, because the events of one batch belong
 * to few rows.
 */
const createRowKeys = (projectId: string): ((event: DedupeKey) => string) => {
  const known = new Map<string, string>();
  return ({ about, madeAt }) => {
    const name = `${Math.floor(madeAt / rowSpanMs)}\0${about}`;
    const rowKey = known.get(name) ?? keyOf(projectId, name);
    known.set(name, rowKey);
    return rowKey;
  };
};

/** Events of one row, and their numbers in the same order. */
type Group = { events: DedupeKey[]; numbers: Set<string> };

/**
 * Groups events by the keys of their rows. If a row has several events with the same id, only the first is included.
 */
const groupsOf = (projectId: string, events: readonly DedupeKey[]): Map<string, Group> => {
  const rowKeyOf = createRowKeys(projectId);
  const groups = new Map<string, Group>();
  for (const event of events) {
    const rowKey = rowKeyOf(event);
    const group = groups.get(rowKey) ?? { events: [], numbers: new Set() };
    groups.set(rowKey, group);
    const { size } = group.numbers;
    if (group.numbers.add(numberOf(event.id)).size > size) group.events.push(event);
  }
  return groups;
};

/**
 * Records events and returns the new ones; of several events with the same id in a row, the first. Other transactions
 * that write to the same rows wait until this transaction ends.
 */
export const recordEvents = async (
  tx: Queryable,
  projectId: string,
  events: readonly DedupeKey[],
  week: number,
): Promise<ReadonlySet<DedupeKey>> => {
  const groups = groupsOf(projectId, events);
  const rows = await tx.query<{ key: string; events: number[] }>(takeStatement, {
    keys: keyList([...groups.keys()]),
    events: [...groups.values()].map(({ numbers }) => `{${[...numbers].join(',')}}`),
    week,
  });
  const fresh = new Set([...groups.values()].flatMap((group) => group.events));
  for (const { key, events: numbers } of rows) {
    const known = new Set(numbers);
    const group = groups.get(dashless(key));
    if (group === undefined) continue;
    const given = [...group.numbers];
    for (const [index, event] of group.events.entries()) {
      if (known.has(Number(given[index]))) fresh.delete(event);
    }
  }
  return fresh;
};
