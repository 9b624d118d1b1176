/** Schemas that several contracts share, such as those of ids, times, records and waits. */

import { limits } from '#domain/limits.ts';
import { type TSchema, Type } from './type.ts';

/** Builds the schema of a JSON string that is one of the given words. */
export const oneOf = <const Words extends readonly string[]>(words: Words, description?: string) =>
  Type.Unsafe<Words[number]>({
    type: 'string',
    enum: [...words],
    ...(description === undefined ? {} : { description }),
  });

/** Builds the schema of a value or null. */
export const nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

/** Any JSON object. */
export const JsonObject = Type.Record(Type.String(), Type.Unknown(), {
  maxProperties: limits.members,
});

/** An id, or a name that a client chooses. */
export const Id = Type.String({ maxLength: limits.idChars });

/** A point in time: ISO 8601 in UTC with milliseconds. */
export const Timestamp = Type.String({ format: 'date-time' });

export const DigestText = Type.Unsafe<`sha256:${string}`>({
  type: 'string',
  maxLength: 71,
  pattern: '^sha256:[0-9a-f]{64}$',
});

/** `?wait=`: seconds for which the server may hold the answer until it has a result. */
export const WaitSeconds = Type.Optional(
  Type.Number({
    minimum: 0,
    maximum: limits.waitMs / 1000,
    description:
      'Maximum time in seconds for which the server may hold the answer until it has a result; 0 or absent: it answers at once.',
  }),
);

export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'A repeated request with the same key returns the object that the first request created.',
    }),
  ),
});

/**
 * Builds the schema of the header `traceparent`. `whose` completes its description. The server ignores malformed
 * values.
 */
export const traceParentHeader = (whose: string) =>
  Type.Optional(Type.String({ maxLength: 1_000, description: `W3C trace context ${whose}` }));

/** Bytes, sent as `application/octet-stream`. */
export const Bytes = Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary' });

/** A video, sent as bytes with its own media type. */
export const Film = Type.Unsafe<Uint8Array>({
  type: 'string',
  format: 'binary',
  contentMediaType: 'video/webm',
});

/** A gzipped tar archive, sent as bytes with its own media type. */
export const Archive = Type.Unsafe<Uint8Array>({
  type: 'string',
  format: 'binary',
  contentMediaType: 'application/gzip',
});

/** Schema of an answer without a body. */
export const Empty = Type.Unsafe<undefined>({ type: 'null' });

/** Builds the schema of `?fields=`: comma-separated members that a list leaves out unless the client names them. */
export const fieldsOf = <const Names extends readonly string[]>(names: Names) => {
  const one = `(?:${names.join('|')})`;
  return Type.Optional(
    Type.String({
      maxLength: 100,
      pattern: `^${one}(?:,${one})*$`,
      description: `additional members to show, separated by commas: ${names.join(', ')}`,
    }),
  );
};

/** Schema of the names of members that are left out of a list entry because the page is full. */
export const Omitted = Type.Optional(
  Type.Array(Type.String(), {
    description:
      'members that are left out because the page is full: request fewer entries, or this entry alone',
  }),
);
