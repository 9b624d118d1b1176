/**
 * Counts what an export in protobuf holds, without making anything of it. The bytes may be the beginning of a body
 * that is still being unpacked. It counts at least what `protobuf-form.ts` would read: where that gives up a span, this
 * goes on behind the same span. Varints are read here and not by protobuf-es, which takes five times as long for each
 * field (120 ns, measured 2026-11-29): a body may have millions.
 */
import { type ExportCount, exportBounds, HoldsTooMany } from './bounds.ts';

type Counted = Exclude<ExportCount, 'fields'>;

type Message = {
  /** Bound that a message of this kind counts toward. */
  counts?: Counted;
  /** The messages in it that are read, by their fields, which are all below 16. */
  holds: (Message | undefined)[];
  /** True when the message ends where its length says, even where its content is invalid. */
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

/** An `AnyValue`, which holds others in lists and in members. */
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

/** Deeper messages are passed over, as values of attributes nest only so deep. */
const mostDepth = 200;

/** Types of fields on the wire: those of fixed lengths, and one with its length before it. */
const varintType = 0;
const fixedBytes: Readonly<Record<number, number>> = { 1: 8, 5: 4 };
const lengthyType = 2;

const mostVarintBytes = 10;

/** Thrown where bytes are no protobuf, or end: the same each time, as there may be as many as there are spans. */
const unreadable = new Error('these bytes are no protobuf');

/** Makes what walks through bytes, counting. */
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
    // What is no protobuf is refused by who reads it, and the end of a beginning is cut anywhere.
    if (error !== unreadable) throw error;
  }
};

/** Throws `HoldsTooMany` for an `ExportTraceServiceRequest` that holds more than one may. */
export const holdSpans = (bytes: Uint8Array): void => hold(bytes, exportOfSpans);

/** Throws it for an `ExportMetricsServiceRequest`, of which nothing is kept. */
export const holdMetrics = (bytes: Uint8Array): void => hold(bytes, exportOfMetrics);
