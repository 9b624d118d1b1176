/**
 * Counts the elements of an export in protobuf without decoding it. The bytes may be the beginning of a body that is
 * still being decompressed. It counts at least the elements that `protobuf-form.ts` would read: if that file rejects a
 * span and continues with the next one, this file does so too. It reads varints itself, because protobuf-es takes five
 * times as long for each field (120 ns, measured 2026-11-29) and a body may have millions of fields.
 */
import { type ExportCount, exportBounds, HoldsTooMany } from './bounds.ts';

type Counted = Exclude<ExportCount, 'fields'>;

type Message = {
  /** Limit that a message of this kind counts toward. */
  counts?: Counted;
  /** Nested messages to descend into, indexed by field number. All field numbers are below 16. */
  holds: (Message | undefined)[];
  /**
   * True if an error inside the message does not invalidate what follows the message, because its length gives its end.
   */
  standsAlone?: boolean;
};

const mostField = 15;

const message = (
  holds: readonly (readonly [number, Message])[] = [],
  rest: Omit<Message, 'holds'> = {},
): Message => {
  const all: (Message | undefined)[] = Array.from({ length: mostField + 1 });
  for (const [field, inner] of holds) all[field] = inner;
  return { ...rest, holds: all };
};

/** An `AnyValue`, which may contain further values in lists and in members. */
const value = message();
value.holds[5] = message([[1, value]]);
value.holds[6] = message([[1, message([[2, value]])]]);

const attribute = message([[2, value]], { counts: 'attributes' });
const event = message([[3, attribute]], { counts: 'attributes' });
const link = message([], { counts: 'attributes' });
const span = message(
  [
    [9, attribute],
    [11, event],
    [13, link],
    [15, message()],
  ],
  { counts: 'spans', standsAlone: true },
);
const scope = message([[3, attribute]]);
const scopeSpans = message(
  [
    [1, scope],
    [2, span],
  ],
  { counts: 'scopes' },
);
const resourceSpans = message(
  [
    [1, message([[1, attribute]])],
    [2, scopeSpans],
  ],
  { counts: 'resources' },
);
const exportOfSpans = message([[1, resourceSpans]]);
const exportOfMetrics = message();

/**
 * Maximum depth of messages that are counted. Deeper ones are skipped, because the decoder also limits the depth of
 * values.
 */
const mostDepth = 200;

/** Wire types of protobuf fields: varint, fixed length in bytes, and length-delimited. */
const varintType = 0;
const fixedBytes: Readonly<Record<number, number>> = { 1: 8, 5: 4 };
const lengthyType = 2;

const mostVarintBytes = 10;

/**
 * Thrown if the bytes are no protobuf or end early. There is one shared instance, because it may be thrown once for
 * each span.
 */
const unreadable = new Error('these bytes are no protobuf');

/** Builds a function that walks through the bytes and counts elements. */
const createWalk = (bytes: Uint8Array) => {
  const counts = { resources: 0, scopes: 0, spans: 0, attributes: 0 };
  const mostFields = exportBounds.fields;
  let fields = 0;
  let at = 0;

  const count = (what: Counted): void => {
    counts[what] += 1;
    if (counts[what] > exportBounds[what]) throw new HoldsTooMany(what, exportBounds[what]);
  };

  const readVarint = (): number => {
    const first = bytes[at];
    if (first === undefined || first >= 0x80) return readLongVarint();
    at += 1;
    return first;
  };

  const readLongVarint = (): number => {
    let read = 0;
    let factor = 1;
    for (let index = 0; index < mostVarintBytes; index += 1) {
      if (at >= bytes.length) throw unreadable;
      const byte = bytes[at] as number;
      at += 1;
      read += (byte & 0x7f) * factor;
      if (byte < 0x80) return read;
      factor *= 0x80;
    }
    throw unreadable;
  };

  const walk = (end: number, { holds }: Message, depth: number): void => {
    while (at < end) {
      fields += 1;
      if (fields > mostFields) throw new HoldsTooMany('fields', mostFields);
      const tag = readVarint();
      const wire = tag & 7;
      if (wire === lengthyType) {
        const length = readVarint();
        const stop = Math.min(at + length, end);
        const inner = tag < 0x80 ? holds[tag >>> 3] : undefined;
        if (inner !== undefined && depth < mostDepth) enter(stop, inner, depth + 1);
        at = stop;
      } else if (wire === varintType) {
        readVarint();
      } else {
        const length = fixedBytes[wire];
        if (length === undefined) throw unreadable;
        at += length;
      }
    }
  };

  const enter = (end: number, inner: Message, depth: number): void => {
    if (inner.counts !== undefined) count(inner.counts);
    try {
      walk(end, inner, depth);
    } catch (error) {
      if (error !== unreadable || inner.standsAlone !== true) throw error;
    }
  };
  return walk;
};

const hold = (bytes: Uint8Array, whole: Message): void => {
  try {
    createWalk(bytes)(bytes.byteLength, whole, 0);
  } catch (error) {
    // Invalid bytes are refused by the reader, and the beginning of a body may be cut anywhere.
    if (error !== unreadable) throw error;
  }
};

/** Throws `HoldsTooMany` if an `ExportTraceServiceRequest` exceeds `exportBounds`. */
export const holdSpans = (bytes: Uint8Array): void => hold(bytes, exportOfSpans);

/** Throws `HoldsTooMany` if an `ExportMetricsServiceRequest` has too many fields; none of its data is stored. */
export const holdMetrics = (bytes: Uint8Array): void => hold(bytes, exportOfMetrics);
