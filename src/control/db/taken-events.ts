/**
 * Events that were taken, remembered so that one that is sent again does nothing. A row holds those of one trace that
 * were made within some minutes: a client that sends an event again says the same of the same trace, and most batches are
 * of few traces. So a batch of hundreds of events finds them by a row or two.
 */
import { hash } from 'node:crypto';
import { type Queryable, statement } from './database.ts';
import { rowsOf } from './parameters.ts';
import { dashless, keyOf } from './trace-keys.ts';

/** An event as far as it is remembered. */
export type TakenEvent = {
  id: string;
  /** The trace that it tells of, or the object, where it names no trace. */
  about: string;
  /** When it was made, in milliseconds since 1970. */
  madeAt: number;
};

/** Bounds how long a row gets, however long a trace goes on. */
const togetherMs = 600_000;

const digits = 13;

/** The number of an event among those of its row: 52 bits of a digest, which are exact in a number. */
const numberOf = (id: string): number =>
  Number.parseInt(hash('sha256', id, 'hex').slice(0, digits), 16);

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
const createPlaces = (projectId: string): ((event: TakenEvent) => string) => {
  const known = new Map<string, string>();
  return ({ about, madeAt }) => {
    const name = `${Math.floor(madeAt / togetherMs)}\0${about}`;
    const place = known.get(name) ?? keyOf(projectId, name);
    known.set(name, place);
    return place;
  };
};

/** The first of each id. */
const onceOf = (events: readonly TakenEvent[]): TakenEvent[] => {
  const seen = new Set<string>();
  return events.filter(({ id }) => {
    const { size } = seen;
    return seen.add(id).size > size;
  });
};

/**
 * Remembers events; returns those that were not known, of each id the first. Others that write the same wait until
 * the transaction ends.
 */
export const takeEvents = async (
  tx: Queryable,
  projectId: string,
  events: readonly TakenEvent[],
  week: number,
): Promise<ReadonlySet<TakenEvent>> => {
  const once = onceOf(events).map((event) => ({ event, number: numberOf(event.id) }));
  const placeOf = createPlaces(projectId);
  const places = Map.groupBy(once, ({ event }) => placeOf(event));
  const rows = await tx.query<{ key: string; events: number[] }>(takeStatement, {
    keys: [...places.keys()],
    events: [...places.values()].map((group) => `{${group.map(({ number }) => number)}}`),
    week,
  });
  const fresh = new Set(once.map(({ event }) => event));
  for (const { key, events: numbers } of rows) {
    const known = new Set(numbers);
    for (const { event, number } of places.get(dashless(key)) ?? []) {
      if (known.has(number)) fresh.delete(event);
    }
  }
  return fresh;
};
