/**
 * Limits on the number of entries in bodies whose entries are read one by one. The limits are checked before a body is
 * parsed, and while it is being decompressed, because a few bytes can expand to very many entries.
 */
import { exportBounds, HoldsTooMany } from '#observability/otlp/bounds.ts';
import { holdMetrics, holdSpans } from '#observability/otlp/protobuf-extent.ts';
import { mostEvents } from '#wire/public-api/observability/ingestion.ts';
import { countEntries, placeOf } from './entries.ts';
import type { BodyForm } from './keep.ts';

type Bound = { what: string; most: number; places: readonly number[] };

const bound = (what: string, most: number, ...lists: readonly string[]): Bound => ({
  what,
  most,
  places: lists.map(placeOf),
});

const { resources, scopes, spans, attributes } = exportBounds;

/** Lists with a limit, by operation, each with the list's position in the body. */
const listsOf: Readonly<Record<string, readonly Bound[]>> = {
  ingest: [bound('events', mostEvents, '{[')],
  ingestSpans: [
    bound('resources', resources, '{['),
    bound('scopes', scopes, '{[{['),
    bound('spans', spans, '{[{[{['),
    bound('attributes', attributes, '{[{{[', '{[{[{{[', '{[{[{[{[', '{[{[{[{[{['),
  ],
  ingestMetrics: [bound('resources', resources, '{[')],
};

const protobufHolds: Readonly<Record<string, (bytes: Uint8Array) => void>> = {
  ingestSpans: holdSpans,
  ingestMetrics: holdMetrics,
};

const holdLists = (bytes: Uint8Array, bounds: readonly Bound[]): void => {
  const counts = countEntries(bytes);
  for (const { what, most, places } of bounds) {
    const sum = places.reduce((all, place) => all + (counts[place] ?? 0), 0);
    if (sum > most) throw new HoldsTooMany(what, most);
  }
};

/** Throws `HoldsTooMany` if the body of an operation, or the beginning of the body, exceeds a limit. */
export const checkExtent = (operation: string, form: BodyForm, bytes: Uint8Array): void => {
  if (form === 'protobuf') protobufHolds[operation]?.(bytes);
  else if (Object.hasOwn(listsOf, operation)) holdLists(bytes, listsOf[operation] ?? []);
};
