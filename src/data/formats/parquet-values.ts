/**
 * Converts values of Parquet columns to JSON. Each value is converted exactly, or refused. The Parquet library's own
 * conversion is not used, because it goes through doubles and milliseconds. The library reads the physical values, and
 * this module converts them, at any depth, by the file's schema.
 */
import type { FileMetaData, ParquetParsers, SchemaElement, SchemaTree } from 'hyparquet';
import type { Row } from '#language/contract.ts';
import { exactNumber } from './exact-number.ts';
import { readValueText } from './row-text.ts';

/** Thrown for a value that JSON cannot represent. */
class ValueFault extends Error {}

/** Placeholder for bytes of a text column that are not UTF-8. */
const brokenText = Symbol('no UTF-8');

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const readUtf8 = (bytes: Uint8Array | undefined): unknown => {
  try {
    return bytes && utf8.decode(bytes);
  } catch {
    return brokenText;
  }
};

/** Conversions that the Parquet library performs: texts (once for each dictionary) and timestamps of 96 bits. */
export const parsers: Partial<ParquetParsers> = {
  stringFromBytes: readUtf8,
  timestampFromNanoseconds: (nanos) => nanos,
};

type Convert = (value: unknown) => unknown;

const readWhole: Convert = (value) => {
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  // A whole number beyond the safe range becomes a text, which only a schema of texts accepts.
  return Number.isSafeInteger(number) ? number : value.toString();
};

/** Converts a double; returns undefined for NaN, so that the field is absent. */
const readDouble: Convert = (value) => {
  if (Number.isNaN(value)) return undefined;
  return value === Infinity || value === -Infinity ? String(value) : value;
};

const readText: Convert = (value) => {
  if (value === brokenText) throw new ValueFault('has bytes that are not UTF-8 text');
  return value;
};

const readJson: Convert = (value) => {
  const read = readValueText(String(readText(value)));
  if ('value' in read) return read.value;
  throw new ValueFault(`has JSON that cannot be stored: it ${read.detail}`);
};

const readBytes: Convert = (value) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;

const readUuid: Convert = (value) =>
  Buffer.from(value as Uint8Array)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

const unscaledOf = (value: unknown): bigint => {
  if (!(value instanceof Uint8Array)) return BigInt(value as number | bigint);
  if (value.length === 0) return 0n;
  const digits = BigInt(`0x${Buffer.from(value).toString('hex')}`);
  return BigInt.asIntN(value.length * 8, digits);
};

const readDecimal =
  (scale: number): Convert =>
  (value) => {
    const unscaled = unscaledOf(value);
    const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
    const at = digits.length - scale;
    const sign = unscaled < 0n ? '-' : '';
    const text = `${sign}${digits.slice(0, at)}${scale === 0 ? '' : `.${digits.slice(at)}`}`;
    return exactNumber(text) ?? text;
  };

const nanosOf = { MILLIS: 1_000_000n, MICROS: 1_000n, NANOS: 1n } as const;
type Unit = keyof typeof nanosOf;

const secondNanos = 1_000_000_000n;
const dayNanos = 86_400n * secondNanos;

const floorOf = (value: bigint, by: bigint): bigint =>
  value / by - (value < 0n && value % by !== 0n ? 1n : 0n);

/**
 * Returns the digits of a second's fraction, in groups of three: as many groups as the fraction needs, and at least
 * `least` digits.
 */
const fractionText = (nanos: bigint, least: number): string => {
  const digits = nanos.toString().padStart(9, '0');
  const kept = [0, 3, 6, 9].find((length) => length >= least && /^0*$/.test(digits.slice(length)));
  return kept === 0 ? '' : `.${digits.slice(0, kept)}`;
};

const secondsText = (seconds: bigint): string => {
  const date = new Date(Number(seconds) * 1_000);
  if (Number.isNaN(date.getTime()))
    throw new ValueFault('has a time outside the years that can be written');
  return date.toISOString().replace(/\.000Z$/, '');
};

const readTimestamp =
  (unit: Unit): Convert =>
  (value) => {
    const nanos = BigInt(value as number | bigint) * nanosOf[unit];
    const seconds = floorOf(nanos, secondNanos);
    return `${secondsText(seconds)}${fractionText(nanos - seconds * secondNanos, 3)}Z`;
  };

const readTimeOfDay =
  (unit: Unit): Convert =>
  (value) => {
    const nanos = BigInt(value as number | bigint) * nanosOf[unit];
    if (nanos < 0n || nanos >= dayNanos)
      throw new ValueFault('has a time of day that does not exist');
    const clock = secondsText(nanos / secondNanos).slice(11);
    return `${clock}${fractionText(nanos % secondNanos, 0)}`;
  };

const readDate: Convert = (value) =>
  secondsText(BigInt(value as number) * 86_400n).replace(/T.*$/, '');

const isText = ({ type, converted_type: converted, logical_type: logical }: SchemaElement) =>
  converted === 'UTF8' ||
  converted === 'ENUM' ||
  logical?.type === 'STRING' ||
  logical?.type === 'ENUM' ||
  (type === 'BYTE_ARRAY' && converted === undefined && logical === undefined);

const isJson = ({ converted_type: converted, logical_type: logical }: SchemaElement): boolean =>
  converted === 'JSON' || logical?.type === 'JSON';

/** Returns true for columns that the Parquet library itself converts without loss, or refuses. */
const isLeftToReader = ({ converted_type: converted, logical_type: logical }: SchemaElement) =>
  converted === 'BSON' ||
  converted === 'INTERVAL' ||
  ['BSON', 'FLOAT16', 'GEOMETRY', 'GEOGRAPHY'].includes(logical?.type ?? '');

const readLeaf = (element: SchemaElement): Convert => {
  const { type, converted_type: converted, logical_type: logical, scale } = element;
  if (converted === 'DECIMAL' || logical?.type === 'DECIMAL') {
    return readDecimal(scale ?? (logical?.type === 'DECIMAL' ? logical.scale : 0));
  }
  if (logical?.type === 'TIMESTAMP') return readTimestamp(logical.unit);
  if (logical?.type === 'TIME') return readTimeOfDay(logical.unit);
  if (converted === 'TIMESTAMP_MILLIS') return readTimestamp('MILLIS');
  if (converted === 'TIMESTAMP_MICROS') return readTimestamp('MICROS');
  if (type === 'INT96') return readTimestamp('NANOS');
  if (converted === 'TIME_MILLIS') return readTimeOfDay('MILLIS');
  if (converted === 'TIME_MICROS') return readTimeOfDay('MICROS');
  if (converted === 'DATE' || logical?.type === 'DATE') return readDate;
  const isUnsigned = logical?.type === 'INTEGER' && !logical.isSigned;
  if (type === 'INT64' && (isUnsigned || converted === 'UINT_64')) {
    return (value) => readWhole(BigInt.asUintN(64, BigInt(value as bigint)));
  }
  if (type === 'INT32' && (isUnsigned || converted === 'UINT_32')) {
    return (value) => (value as number) >>> 0;
  }
  if (isJson(element)) return readJson;
  if (isText(element)) return readText;
  if (logical?.type === 'UUID') return readUuid;
  if (type === 'FLOAT' || type === 'DOUBLE' || logical?.type === 'FLOAT16') return readDouble;
  return type === 'FIXED_LEN_BYTE_ARRAY' || type === 'BYTE_ARRAY' ? readBytes : readWhole;
};

const isList = ({ converted_type: converted, logical_type: logical }: SchemaElement): boolean =>
  converted === 'LIST' || logical?.type === 'LIST';

const isMap = ({ element, children }: SchemaTree): boolean =>
  (element.converted_type === 'MAP' ||
    element.converted_type === 'MAP_KEY_VALUE' ||
    element.logical_type?.type === 'MAP') &&
  children.length === 1 &&
  children[0]?.element.repetition_type === 'REPEATED' &&
  children[0].children.length === 2;

/** Returns the schema node of a list's items; undefined for a list in another form, which is read as it is written. */
const itemOf = ({ element, children }: SchemaTree): SchemaTree | undefined => {
  const [repeated] = children;
  const isUsual =
    isList(element) &&
    children.length === 1 &&
    repeated?.element.repetition_type === 'REPEATED' &&
    repeated.children.length <= 1;
  return isUsual ? (repeated?.children[0] ?? repeated) : undefined;
};

const orNothing =
  (convert: Convert): Convert =>
  (value) =>
    value === null || value === undefined ? undefined : convert(value);

const readItems =
  (convert: Convert): Convert =>
  (value) =>
    (value as unknown[]).map((item) => convert(item) ?? null);

const readStruct = (children: readonly SchemaTree[]): Convert => {
  const fields = children.map((child) => [child.element.name, readNode(child)] as const);
  return (value) =>
    Object.fromEntries(
      fields
        .map(([name, convert]) => [name, convert((value as Row)[name])])
        .filter(([, field]) => field !== undefined),
    );
};

const readMap = (pairs: SchemaTree): Convert => {
  const [key, held] = pairs.children as [SchemaTree, SchemaTree];
  const [convertKey, convertHeld] = [readNode(key), readNode(held)];
  return (value) => {
    const entries = new Map<string, unknown>();
    for (const pair of ((value as Row)[pairs.element.name] ?? []) as Row[]) {
      const name = convertKey(pair[key.element.name]);
      if (typeof name === 'object' || name === undefined) {
        throw new ValueFault('has a map whose keys are neither texts nor numbers');
      }
      if (entries.has(String(name))) throw new ValueFault(`has a map with the key ${name} twice`);
      entries.set(String(name), convertHeld(pair[held.element.name]) ?? null);
    }
    return Object.fromEntries(entries);
  };
};

const readNode = (node: SchemaTree, isItem = false): Convert => {
  const { element, children } = node;
  const item = itemOf(node);
  const [pairs] = children;
  const one = orNothing(
    item !== undefined
      ? readItems(readNode(item, item === pairs))
      : isMap(node) && pairs !== undefined
        ? readMap(pairs)
        : children.length > 0
          ? readStruct(children)
          : readLeaf(element),
  );
  return element.repetition_type === 'REPEATED' && !isItem ? orNothing(readItems(one)) : one;
};

/** Creates the reader of rows with the schema's columns. A null in the file leaves its field out of the row. */
export const createRowReader = (schema: SchemaTree) => {
  const columns = schema.children.map((child) => [child.element.name, readNode(child)] as const);
  return (values: Record<string, unknown>): { row: Row } | { field: string; detail: string } => {
    const row: [string, unknown][] = [];
    for (const [name, convert] of columns) {
      try {
        const value = convert(values[name]);
        if (value !== undefined) row.push([name, value]);
      } catch (error) {
        if (error instanceof ValueFault) return { field: name, detail: error.message };
        throw error;
      }
    }
    return { row: Object.fromEntries(row) };
  };
};

/**
 * Removes from a column the types by which the Parquet library would convert it. Also removes the type of a map,
 * because the library would lose keys that are not texts.
 */
const physical = (element: SchemaElement): SchemaElement => {
  const { converted_type: _, logical_type: __, ...rest } = element;
  if (element.num_children) return isList(element) ? { ...rest, converted_type: 'LIST' } : rest;
  if (isLeftToReader(element)) return element;
  return isText(element) || isJson(element) ? { ...rest, converted_type: 'UTF8' } : rest;
};

/**
 * Returns the file's metadata with only physical types, for the Parquet library. If the file cannot be read, returns
 * the reason as a text.
 */
export const physicalMetadata = (metadata: FileMetaData): FileMetaData | string => {
  const { schema } = metadata;
  const variant = schema.find(({ logical_type: logical }) => logical?.type === 'VARIANT');
  if (variant !== undefined)
    return `has a column of the type VARIANT, "${variant.name}", which is not supported`;
  if (schema.some(({ name }) => name === '__proto__'))
    return 'has a column named "__proto__", which is not allowed';
  return { ...metadata, schema: schema.map(physical) };
};
