/**
 * Reads rows from lines. It detects faults that are visible in the text and not in the parsed value: repeated keys, and
 * numbers that lose digits. Then the world's redaction policy is applied, before any other check.
 */
import { isObject, parsePointer, toPointer } from '#domain/json.ts';
import type { Redaction } from '#language/capture/redaction.ts';
import type { Row } from '#language/contract.ts';
import { languageLimits } from '#language/limits.ts';
import {
  findDuplicateKeys,
  findUnsafeNumber,
  repeatsKeys,
  saidOfSyntax,
} from '#language/read/json-faults.ts';
import { depthOf } from '#language/read/json-text.ts';
import { isDeeperThan, kindOf } from '#language/read/values.ts';
import type { Catalog, CatalogEntity } from '#store/tables/catalog.ts';
import { faultOf, type RowFault, showKey } from './faults.ts';
import type { Line } from './lines.ts';
import { readNotedFault } from './noted-faults.ts';

/** A row in its stored form, if the contract accepts it. */
export type ReadRow = { entity: CatalogEntity; row: Row; payload: string };

export type RowReader = {
  /**
   * Reads a line. `entity` is the chunk's entity; if it is undefined, the line names one. Returns undefined for a blank
   * line.
   */
  read(line: Line, entity: string | undefined): ReadRow | RowFault | undefined;
};

export type RowReaderParts = {
  catalog: Catalog;
  /** Entities that rows may belong to; undefined for all. */
  entities: readonly string[] | undefined;
  /** Null if rows are stored as they were sent. */
  redaction: ({ mode: 'apply' | 'refuse' } & Redaction) | null;
  rowFields: number;
  /** True if lines may record rows that were refused before the chunk was stored. */
  hasNoted: boolean;
};

export const isFault = (read: ReadRow | RowFault): read is RowFault => 'detail' in read;

const tooDeep = `nests deeper than ${languageLimits.depth} levels`;

/** Length in characters below which a text cannot nest deeply enough to exhaust the stack. */
const shallowChars = 4_000;

type Parsed = { value: unknown } | { fault: string };

const parse = (text: string): Parsed => {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { fault: `is not valid JSON: ${saidOfSyntax(error)}` };
  }
};

/** Converts a place in a line to a place in its row. */
const inRow = (pointer: string, isWrapped: boolean): Pick<RowFault, 'pointer' | 'field'> => {
  const [first, ...others] = pointer.split('/').slice(1);
  const rest = isWrapped ? others : [first ?? '', ...others];
  return { pointer: rest.map((segment) => `/${segment}`).join(''), field: rest[0] ?? null };
};

/**
 * Returns the fault of a text from which parsing would lose information, such as digits; undefined if nothing is lost.
 */
const lostOf = (
  text: string,
  value: unknown,
  isWrapped: boolean,
): Partial<RowFault> | undefined => {
  if (repeatsKeys(text, value)) {
    if (depthOf(text) > languageLimits.depth) return { detail: tooDeep };
    const [pointer = ''] = findDuplicateKeys(text);
    return { ...inRow(pointer, isWrapped), detail: 'is written twice' };
  }
  const unsafe = findUnsafeNumber(text);
  if (unsafe === undefined) return undefined;
  const detail = 'is a number with more digits than can be stored exactly; write it as a text';
  return { ...inRow(unsafe.pointer, isWrapped), detail };
};

const wrapped =
  'the line must be {"entity": …, "row": {…}}, because neither its chunk nor the batch names an entity';

export const createRowReader = (parts: RowReaderParts): RowReader => {
  const { catalog, redaction, rowFields } = parts;
  const allowed = new Map(
    catalog.entities
      .filter(({ name }) => parts.entities?.includes(name) ?? true)
      .map((entity) => [entity.name, entity]),
  );
  const unknown = (name: string): RowFault => {
    const isOther = catalog.entities.some((entity) => entity.name === name);
    const known = [...allowed.keys()].join(', ');
    const detail = isOther
      ? `rows of ${name} are not allowed in this import, which is limited to ${known}`
      : `the world has no entity ${redaction === null ? `"${name}"` : 'with the name in the row, which is not repeated here'}; it has ${known}`;
    return faultOf(detail, { entity: isOther || redaction === null ? name : null });
  };

  const redact = (entity: CatalogEntity, row: Row, payload: string): ReadRow | RowFault => {
    if (redaction === null) return { entity, row, payload };
    if (redaction.mode === 'apply') {
      const kept = redaction.applyPolicy(row);
      return { entity, row: kept, payload: kept === row ? payload : JSON.stringify(kept) };
    }
    const breach = redaction.verifyPolicy(row);
    if (breach === undefined) return { entity, row, payload };
    return faultOf(`[${breach.policy}] ${breach.detail}`, {
      entity: entity.name,
      // The policy is applied to the key, because the key itself may contain plaintext.
      primaryKey: showKey(redaction.applyPolicy(row), entity.primaryKey),
      field: breach.field,
      pointer: breach.pointer,
    });
  };

  /** Builds the row of a parsed line, once its entity is known. */
  const take = (
    entity: CatalogEntity,
    text: string,
    value: unknown,
    row: unknown,
  ): ReadRow | RowFault => {
    const isWrapped = value !== row;
    const noted = parts.hasNoted ? readNotedFault(row) : undefined;
    if (noted !== undefined) {
      const field = parsePointer(noted.pointer)[0] ?? null;
      return faultOf(noted.detail, { ...noted, field, entity: entity.name });
    }
    if (!isObject(row))
      return faultOf(`must be an object, is ${kindOf(row)}`, { entity: entity.name });
    if (text.length > shallowChars && isDeeperThan(value, languageLimits.depth)) {
      return faultOf(tooDeep, { entity: entity.name });
    }
    const payload = JSON.stringify(row);
    const written = isWrapped
      ? `{"entity":${JSON.stringify(entity.name)},"row":${payload}}`
      : payload;
    // A line that equals the program's own serialisation has lost nothing.
    const lost = written === text ? undefined : lostOf(text, value, isWrapped);
    if (lost !== undefined) {
      return faultOf(lost.detail ?? '', { ...lost, entity: entity.name });
    }
    if (payload.length > rowFields && Object.keys(row).length > rowFields) {
      return faultOf(`has more than ${rowFields} fields`, { entity: entity.name });
    }
    return redact(entity, row, payload);
  };

  const takeWrapped = (text: string, value: unknown): ReadRow | RowFault => {
    if (!isObject(value) || typeof value.entity !== 'string' || !('row' in value))
      return faultOf(wrapped);
    const extra = Object.keys(value).find((key) => key !== 'entity' && key !== 'row');
    const shown = redaction === null ? `"${extra}"` : 'something';
    if (extra !== undefined) return faultOf(`has ${shown} beside "entity" and "row"; ${wrapped}`);
    const entity = allowed.get(value.entity);
    return entity === undefined ? unknown(value.entity) : take(entity, text, value, value.row);
  };

  return {
    read(line, name) {
      if (typeof line !== 'string') return faultOf(line.fault, { entity: name ?? null });
      if (line.trim() === '') return undefined;
      const parsed = parse(line);
      if ('fault' in parsed) return faultOf(parsed.fault, { entity: name ?? null });
      if (name === undefined) return takeWrapped(line, parsed.value);
      const entity = allowed.get(name);
      return entity === undefined ? unknown(name) : take(entity, line, parsed.value, parsed.value);
    },
  };
};

/** Returns the first fault that the entity's schema finds in a row; undefined without one. */
export const shapeFault = (
  entity: CatalogEntity,
  row: Row,
  [first, ...others]: readonly { field: string; pointer: string; detail: string }[],
): RowFault | undefined => {
  if (first === undefined) return undefined;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return faultOf(`${first.detail}${more}`, {
    entity: entity.name,
    primaryKey: showKey(row, entity.primaryKey),
    field: first.field === '' ? null : first.field,
    pointer: first.pointer,
  });
};

/** Returns the fault of a row that lacks a field of its key. */
export const keyFault = (entity: CatalogEntity, row: Row): RowFault => {
  const field = entity.primaryKey.find((name) => (row[name] ?? null) === null) ?? '';
  const detail = `the primary key is (${entity.primaryKey.join(', ')}) and "${field}" is missing`;
  const primaryKey = showKey(row, entity.primaryKey);
  return faultOf(detail, { entity: entity.name, primaryKey, field, pointer: toPointer([field]) });
};
