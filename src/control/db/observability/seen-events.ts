/**
 * Events that were taken, remembered so that one that is sent again does nothing. A row holds those of one trace that
 * were made within some minutes: a client that sends an event again says the same of the same trace, and most batches are
 * of few traces. So a batch of hundreds of events finds them by a row or two.
 */
import { type Queryable, statement } from '../core/database.ts';
import { rowsOf } from '../core/parameters.ts';
import { numberOf } from './event-number.ts';
import { dashless, keyList, keyOf } from './trace-keys.ts';

/** An event as far as it is remembered. */
export type SeenEvent = {
  id: string;
  /** The trace that it tells of, or the object, where it names no trace. */
  about: string;
  /** When it was made, in milliseconds since 1970. */
  madeAt: number;
};

/** Bounds how long a row gets, however long a trace goes on. */
const togetherMs = 600_000;

/** Answers, of rows that were there, which of the given events they held. */
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

/** What finds the places of events; those of one batch are few. */
const createPlaces = (projectId: string): ((event: SeenEvent) => string) => {
  const known = new Map<string, string>();
  return ({ about, madeAt }) => {
    const name = `${Math.floor(madeAt / togetherMs)}\0${about}`;
    const place = known.get(name) ?? keyOf(projectId, name);
    known.set(name, place);
    return place;
  };
};

/** Events of one row, and their numbers in the same order. */
type Group = { events: SeenEvent[]; numbers: Set<string> };

/** The first of each id in a row, by the keys of the rows. */
const groupsOf = (projectId: string, events: readonly SeenEvent[]): Map<string, Group> => {
  const placeOf = createPlaces(projectId);
  const groups = new Map<string, Group>();
  for (const event of events) {
    const place = placeOf(event);
    const group = groups.get(place) ?? { events: [], numbers: new Set() };
    groups.set(place, group);
    const { size } = group.numbers;
    if (group.numbers.add(numberOf(event.id)).size > size) group.events.push(event);
  }
  return groups;
};

/**
 * Remembers events; returns those that were not known, of each id the first in its row. Others that write the same
 * wait until the transaction ends.
 */
export const noteEvents = async (
  tx: Queryable,
  projectId: string,
  events: readonly SeenEvent[],
  week: number,
): Promise<ReadonlySet<SeenEvent>> => {
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
