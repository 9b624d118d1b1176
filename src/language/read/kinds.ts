/**
 * Kinds of values that a key can have. A kind reads a value at its place: it returns the parsed value, or refuses the
 * value there and returns undefined. A kind also has a JSON Schema of the values that it accepts, as far as a JSON
 * Schema can express them. Editors use the schema to complete and check the files of a world.
 */

import { parsePointer } from '#domain/json.ts';
import type { JsonSchema } from '../contract.ts';
import type { Place } from './place.ts';
import { nearestName } from './suggest.ts';
import { isTable, kindOf } from './values.ts';

export type Kind<Value> = {
  (place: Place, value: unknown): Value | undefined;
  /** Schema of the accepted values, for editors; absent if any value is accepted. */
  readonly schema?: JsonSchema;
};

/** Builds a kind from its reader and its schema. */
export const kind = <Value>(
  schema: JsonSchema,
  read: (place: Place, value: unknown) => Value | undefined,
): Kind<Value> => Object.assign((place: Place, value: unknown) => read(place, value), { schema });

/** Returns the key to which a value belongs, for messages; '' for a whole document. */
const keyOf = (place: Place): string =>
  parsePointer(place.pointer).findLast((segment) => !/^\d+$/.test(segment)) ?? '';

/** Refuses a value; the message names the value's key. */
export const refuseValue = (place: Place, message: string, hint?: string): undefined => {
  const key = keyOf(place);
  place.refuse('bad_value', key === '' ? message : `${key}: ${message}`, hint);
};

/** Refuses a value of the wrong type; the message names the value's key. */
export const refuseType = (place: Place, wanted: string, value: unknown): undefined => {
  const key = keyOf(place);
  const message = `must be ${wanted}, is ${kindOf(value)}`;
  place.refuse('wrong_type', key === '' ? message : `${key}: ${message}`);
};

/** Kind of any text. */
export const text: Kind<string> = kind({ type: 'string' }, (place, value) =>
  typeof value === 'string' ? value : refuseType(place, 'a text', value),
);

/** Builds the kind of a text with at least one character and at most `most` characters. */
export const filledText = (most = 1_000): Kind<string> =>
  kind({ type: 'string', minLength: 1, maxLength: most, pattern: '\\S' }, (place, value) => {
    const read = text(place, value);
    if (read === undefined || (read.trim() !== '' && read.length <= most)) return read;
    const isEmpty = read.trim() === '';
    return refuseValue(place, isEmpty ? 'must not be empty' : `is longer than ${most} characters`);
  });

/** Builds the kind of a text that `accepts` allows; `wanted` describes it in words. */
export const textThat = (wanted: string, accepts: (read: string) => boolean): Kind<string> =>
  kind({ type: 'string' }, (place, value) => {
    const read = text(place, value);
    if (read === undefined || accepts(read)) return read;
    return refuseValue(place, `must be ${wanted}, is ${kindOf(value)}`);
  });

/** Builds the kind of a text that matches a pattern from end to end; `wanted` describes it in words. */
export const textMatching = (wanted: string, pattern: RegExp): Kind<string> =>
  kind(
    { type: 'string', pattern: pattern.source },
    textThat(wanted, (read) => pattern.test(read)),
  );

/** Builds the kind of a text that is one of the given words. */
export const oneOf = <const Word extends string>(words: readonly Word[]): Kind<Word> =>
  kind({ enum: [...words] }, (place, value) => {
    const read = text(place, value);
    const word = words.find((candidate) => candidate === read);
    if (read === undefined || word !== undefined) return word;
    const choice = words.length === 1 ? `"${words[0]}"` : `one of ${words.join(', ')}`;
    const nearest = nearestName(read, words);
    const hint = nearest === undefined ? undefined : `did you mean "${nearest}"?`;
    return refuseValue(place, `must be ${choice}, is ${kindOf(value)}`, hint);
  });

/** Builds the kind of one exact value. */
export const exactly = <const Value extends string | number>(wanted: Value): Kind<Value> =>
  kind({ const: wanted }, (place, value) => {
    if (value === wanted) return wanted;
    return refuseValue(place, `must be exactly ${JSON.stringify(wanted)}, is ${kindOf(value)}`);
  });

/** Builds the kind of a whole number within bounds, both included. */
export const integer = (min: number, max: number): Kind<number> =>
  kind({ type: 'integer', minimum: min, maximum: max }, (place, value) => {
    if (typeof value !== 'number') return refuseType(place, 'a whole number', value);
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    return refuseValue(place, `must be a whole number from ${min} to ${max}, is ${value}`);
  });

/** Builds the kind of a number within bounds, both included. */
export const number = (min: number, max: number): Kind<number> =>
  kind({ type: 'number', minimum: min, maximum: max }, (place, value) => {
    if (typeof value !== 'number') return refuseType(place, 'a number', value);
    if (value >= min && value <= max) return value;
    return refuseValue(place, `must be a number from ${min} to ${max}, is ${value}`);
  });

export const flag: Kind<boolean> = kind({ type: 'boolean' }, (place, value) =>
  typeof value === 'boolean' ? value : refuseType(place, 'true or false', value),
);

/** Kind that accepts any value. */
export const anything: Kind<unknown> = (_place, value) => value;

/** A value with its place, so that it can be checked later. */
export type Placed<Value> = { place: Place; value: Value };

export const placed = <Value>(inner: Kind<Value>): Kind<Placed<Value>> =>
  kind(inner.schema ?? {}, (place, value) => {
    const read = inner(place, value);
    return read === undefined ? undefined : { place, value: read };
  });

/** Builds the kind of a list. Items that are refused are left out. */
export const listOf = <Value>(
  item: Kind<Value>,
  { least = 0, most = Number.POSITIVE_INFINITY } = {},
): Kind<Value[]> => {
  const bounds = {
    ...(least > 0 && { minItems: least }),
    ...(Number.isFinite(most) && { maxItems: most }),
  };
  return kind({ type: 'array', items: item.schema ?? {}, ...bounds }, (place, value) => {
    if (!Array.isArray(value)) return refuseType(place, 'a list', value);
    if (value.length < least) refuseValue(place, 'the list must not be empty');
    if (value.length > most) {
      place.refuse(
        'too_many',
        `${keyOf(place)}: the list has ${value.length} items, more than ${most}`,
      );
      return undefined;
    }
    return value.flatMap((held: unknown, index) => {
      const read = item(place.at(index), held);
      return read === undefined ? [] : [read];
    });
  });
};

/** Builds the kind of a list without repeated items. */
export const distinct = (list: Kind<string[]>): Kind<string[]> =>
  kind({ ...list.schema, uniqueItems: true }, (place, value) => {
    const read = list(place, value);
    if (read === undefined) return undefined;
    const seen = new Set<string>();
    for (const [index, item] of read.entries()) {
      if (seen.has(item)) place.at(index).refuse('duplicate', `"${item}" is listed twice`);
      seen.add(item);
    }
    return [...seen];
  });

/** Builds the kind of a table whose keys the author chooses. Entries that are refused are left out. */
export const mapOf = <Value>(held: Kind<Value>, { least = 0 } = {}): Kind<Map<string, Value>> => {
  const size = least > 0 && { minProperties: least };
  const schema = { type: 'object', additionalProperties: held.schema ?? {}, ...size };
  return kind(schema, (place, value) => {
    if (!isTable(value)) return refuseType(place, 'a table', value);
    const entries = Object.entries(value);
    if (entries.length < least) refuseValue(place, 'the table must not be empty');
    return new Map(
      entries.flatMap(([key, item]): [string, Value][] => {
        const read = held(place.at(key), item);
        return read === undefined ? [] : [[key, read]];
      }),
    );
  });
};

/** Builds the kind of a value that is written in a short form, as a text, or in a long form, as a table. */
export const textOrTable = <Value>(short: Kind<Value>, long: Kind<Value>): Kind<Value> =>
  kind({ anyOf: [short.schema ?? {}, long.schema ?? {}] }, (place, value) => {
    if (typeof value === 'string') return short(place, value);
    return isTable(value) ? long(place, value) : refuseType(place, 'a text or a table', value);
  });
