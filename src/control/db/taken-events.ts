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

const placeOf = (projectId: string, { about, madeAt }: TakenEvent): string =>
  keyOf(projectId, `${Math.floor(madeAt / togetherMs)}\0${about}`);

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

/**
 * Remembers events; returns those that were not known, in their order and each once. Others that write the same wait
 * until the transaction ends.
 */
export const takeEvents = async <Event extends TakenEvent>(
  tx: Queryable,
  projectId: string,
  events: readonly Event[],
  week: number,
): Promise<Event[]> => {
  const once = [...new Map(events.toReversed().map((event) => [event.id, event])).values()];
  const places = Map.groupBy(once.reverse(), (event) => placeOf(projectId, event));
  const rows = await tx.query<{ key: string; events: number[] }>(takeStatement, {
    keys: [...places.keys()],
    events: [...places.values()].map((group) => `{${group.map(({ id }) => numberOf(id))}}`),
    week,
  });
  if (rows.length === 0) return once;
  const known = new Map<string, Set<number>>();
  for (const { key, events: numbers } of rows) {
    const place = dashless(key);
    known.set(place, new Set([...(known.get(place) ?? []), ...numbers]));
  }
  const isKnown = (event: Event): boolean =>
    known.get(placeOf(projectId, event))?.has(numberOf(event.id)) ?? false;
  return once.filter((event) => !isKnown(event));
};
