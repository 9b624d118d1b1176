/**
 * Schema pieces that several contracts share: enums from the domain's own lists, records, waits.
 */

import { limits } from '#domain/limits.ts';
import { type TSchema, Type } from './type.ts';

/** A JSON string that is one of the given words. */
export const oneOf = <const Words extends readonly string[]>(words: Words, description?: string) =>
  Type.Unsafe<Words[number]>({
    type: 'string',
    enum: [...words],
    ...(description === undefined ? {} : { description }),
  });

/** The value, or null. */
export const nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

/** Any JSON object. */
export const JsonObject = Type.Record(Type.String(), Type.Unknown(), {
  maxProperties: limits.members,
});

/** An id, or a name that is given to something. */
export const Id = Type.String({ maxLength: limits.idChars });

/** A point in time: ISO 8601 in UTC with milliseconds. */
export const Timestamp = Type.String({ format: 'date-time' });

export const DigestText = Type.Unsafe<`sha256:${string}`>({
  type: 'string',
  maxLength: 71,
  pattern: '^sha256:[0-9a-f]{64}$',
});

/** `?wait=`: how many seconds an answer may be held until there is something to say. */
export const WaitSeconds = Type.Optional(
  Type.Number({
    minimum: 0,
    maximum: limits.waitMs / 1000,
    description: 'Seconds to hold the answer for the outcome; 0 or absent answers at once.',
  }),
);

export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'A repeated request with the same key answers what the first one made.',
    }),
  ),
});

/** The header `traceparent`; what is none is left alone. */
export const traceParentHeader = (whose: string) =>
  Type.Optional(Type.String({ maxLength: 1_000, description: `W3C trace context ${whose}` }));

/** Bytes: sent as `application/octet-stream`. */
export const Bytes = Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary' });

/** A film, sent as bytes of its own media type. */
export const Film = Type.Unsafe<Uint8Array>({
  type: 'string',
  format: 'binary',
  contentMediaType: 'video/webm',
});

/** A gzipped tar archive, sent as bytes of its own media type. */
export const Archive = Type.Unsafe<Uint8Array>({
  type: 'string',
  format: 'binary',
  contentMediaType: 'application/gzip',
});

/** No body. */
export const Empty = Type.Unsafe<undefined>({ type: 'null' });

/** `?fields=`: members that a list leaves out unless they are asked for, by name, with commas between. */
export const fieldsOf = <const Names extends readonly string[]>(names: Names) => {
  const one = `(?:${names.join('|')})`;
  return Type.Optional(
    Type.String({
      maxLength: 100,
      pattern: `^${one}(?:,${one})*$`,
      description: `members to show as well, with commas between: ${names.join(', ')}`,
    }),
  );
};

/** Names of members that an entry of a list is shown without, as the page has no room for them. */
export const Omitted = Type.Optional(
  Type.Array(Type.String(), {
    description:
      'members left out because the page is full: ask for fewer entries, or for this one',
  }),
);
