/**
 * Call `state`: returns row counts and the digest of all rows, or a page of one entity's rows. A page ends before the
 * first row that does not fit, and `next` is the offset of that row.
 */

import { isObject } from '#domain/json.ts';
import { ledgerEntity } from '#domain/ledger.ts';
import { limits } from '#domain/limits.ts';
import type { Row } from '#language/contract.ts';
import { type Filter, filtersOfConditions } from '#store/read/filter.ts';
import type { Reader } from '#store/read/read.ts';
import { StoreRefusal } from '#store/refusal.ts';
import { findLinked } from '../session/links.ts';
import type { Session } from '../session/session.ts';
import { CallFailure, errorOfRefusal } from './answers/failure.ts';
import { type RunCall, refuseUnknown } from './call.ts';

const defaultPageRows = 100;

const invalid = (path: string, message: string): never => {
  throw new CallFailure({ code: 'invalid_input', message, path });
};

const readNumber = (input: Row, name: string, fallback: number, max: number): number => {
  const value = input[name] ?? fallback;
  const isFine = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max;
  return isFine ? value : invalid(`/${name}`, `${name} must be a whole number from 0 to ${max}`);
};

const readWhere = (entity: string, where: unknown = {}): Filter[] => {
  return isObject(where)
    ? filtersOfConditions(entity, where as Row)
    : invalid('/where', 'where must be an object of fields and values');
};

/** Returns the result of `read`. If the store refuses the condition, the call fails with the path `/where`. */
const reading = <Found>(read: () => Found): Found => {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof StoreRefusal) || error.kind !== 'shape') throw error;
    throw new CallFailure({ ...errorOfRefusal(error), path: '/where' });
  }
};

type PageOfRows = { where: Filter[]; limit: number; offset: number };

/** Maximum size of a row in an answer, in bytes; it leaves space for the rest of the answer. */
const mostRowBytes = limits.callOutputBytes;

/**
 * Throws if the first row of a page is larger than an answer may be. The error names the offset of the next row, so
 * that the caller can continue there.
 */
const checkFirst = (entity: string, offset: number, payload: string | undefined): void => {
  const bytes = payload === undefined ? 0 : Buffer.byteLength(payload);
  if (bytes <= mostRowBytes) return;
  throw new CallFailure({
    code: 'too_large',
    message: `the row of ${entity} at offset ${offset} has ${bytes} bytes, more than the ${mostRowBytes} that an answer may have; the next row is at offset ${offset + 1}`,
    path: '/offset',
  });
};

/** Source of rows: the store, or the ledger. */
type Source = Pick<Reader, 'query' | 'count'>;

/** Reads a page of rows; `next` is the offset of the first row after it, if there is one. */
const readPage = (source: Source, entity: string, page: PageOfRows) => {
  const { where, limit, offset } = page;
  const total = source.count(entity, where);
  const mostBytes = limits.statePageBytes;
  const payloads = source.query(entity, { where, limit, offset, mostBytes });
  checkFirst(entity, offset, payloads[0]);
  const end = offset + payloads.length;
  const next = limit > 0 && end < total ? { next: end } : {};
  return { entity, rows: payloads.map((payload) => JSON.parse(payload) as Row), total, ...next };
};

/** Returns counts and digest of the session's rows, and those of its linked worlds by alias. */
const summaryOf = ({ world: { store }, links }: Session) => {
  const linked = [...links].map(([alias, { world }]) => [
    alias,
    { counts: world.store.counts(), digest: world.store.digest() },
  ]);
  const own = { counts: store.counts(), digest: store.digest() };
  return links.size === 0 ? own : { ...own, links: Object.fromEntries(linked) };
};

/**
 * Returns the source of an entity's rows, and the entity's name in that source. Entities of linked worlds are named
 * `<alias>.<entity>`.
 */
const sourceOf = (session: Session, entity: string): [source: Source, name: string] => {
  if (entity === ledgerEntity) return [session.ledger, entity];
  const found = findLinked(session, entity);
  return found === undefined
    ? [session.world.store, entity]
    : [found.linked.world.store, found.rest];
};

export const callState: RunCall = (session, _call, input) => {
  const { ledger, world } = session;
  return world.store.exclusively(() => {
    refuseUnknown(input, ['entity', 'where', 'limit', 'offset']);
    const { entity } = input;
    if (entity === undefined) {
      refuseUnknown(input, []);
      return { output: summaryOf(session), changes: {} };
    }
    if (typeof entity !== 'string')
      return invalid('/entity', 'entity must be the name of an entity, as a text');
    const where = reading(() => readWhere(entity, input.where));
    const limit = readNumber(input, 'limit', defaultPageRows, limits.statePageRows);
    const offset = readNumber(input, 'offset', 0, Number.MAX_SAFE_INTEGER);
    const [source, name] = sourceOf(session, entity);
    const page = reading(() => readPage(source, name, { where, limit, offset }));
    const missing = entity === ledgerEntity ? ledger.missing() : 0;
    const output = { ...page, entity, ...(missing === 0 ? {} : { missing }) };
    return { output, changes: {} };
  });
};
