/**
 * Executes the store operations that user code requests. Their arguments come from an author's code and are checked
 * here; the store checks rows and keys.
 */
import { AppError } from '#domain/error.ts';
import { isObject } from '#domain/json.ts';
import type { Row } from '#language/contract.ts';
import { readFieldPath } from '#language/field-path.ts';
import { filtersOfWhere } from '#store/read/filter.ts';
import type { Query } from '#store/read/read.ts';
import { StoreRefusal } from '#store/refusal.ts';
import type { Refusal } from '../boundary/protocol.ts';
import type { StoreAccess, WorldEvent } from '../run.ts';

const refuseArgument = (entity: string, detail: string): never => {
  throw new StoreRefusal({ entity, kind: 'shape', detail });
};

const entityOf = ({ entity }: Row): string =>
  typeof entity === 'string'
    ? entity
    : refuseArgument(String(entity), 'the name of an entity must be a text');

const objectOf = (entity: string, given: Row, name: string, example: string): Row => {
  const value = given[name];
  return isObject(value)
    ? value
    : refuseArgument(entity, `${name} must be an object, such as ${example}`);
};

/**
 * Returns the fields whose values limit the rows over which a number is counted; empty if all rows of the entity count.
 */
const withinOf = (entity: string, given: Row): Row =>
  (given.within ?? null) === null
    ? {}
    : objectOf(entity, given, 'within', '{"repository": "berth"}');

const countOf = (entity: string, given: Row, name: string): number | undefined => {
  const value = given[name] ?? undefined;
  if (value === undefined) return undefined;
  const isCount = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
  return isCount ? value : refuseArgument(entity, `${name} must be a whole number from 0`);
};

/** Reads the argument `where` of user code: fields, or paths to them, each with a value or a list of values. */
const filtersOf = (entity: string, given: Row): NonNullable<Query['where']> => {
  if ((given.where ?? null) === null) return [];
  return filtersOfWhere(objectOf(entity, given, 'where', '{"state": "open"}'));
};

/** Reads the argument `order_by` of user code: `field`, `-field` for descending order, or a list of these. */
const orderOf = (entity: string, given: Row): NonNullable<Query['orderBy']> =>
  [given.orderBy ?? []].flat().map((item: unknown) => {
    if (typeof item !== 'string')
      return refuseArgument(entity, 'an order must be "field" or "-field"');
    const descending = item.startsWith('-');
    return { path: readFieldPath(descending ? item.slice(1) : item), descending };
  });

const queryOf = (entity: string, given: Row): Query => ({
  where: filtersOf(entity, given),
  limit: countOf(entity, given, 'limit'),
  offset: countOf(entity, given, 'offset'),
  orderBy: orderOf(entity, given),
});

/** Reads an event that user code sends to the world's webhooks. */
const eventOf = ({ type, body = null, scope = null, id = null }: Row): WorldEvent => {
  if (typeof type !== 'string')
    return refuseArgument('webhooks', 'the type of an event must be a text');
  if (scope !== null && !isObject(scope)) {
    return refuseArgument('webhooks', 'scope must be an object, such as {"repository": 7}');
  }
  if (id !== null && typeof id !== 'string') {
    return refuseArgument('webhooks', 'the id of a delivery must be a text');
  }
  return { type, body, scope, id };
};

const keyExample = '{"id": 1}';

/** Answer of an operation that returns nothing. */
const nothing = 'null';

/**
 * Executes one operation and returns its answer as JSON. Throws the store's errors, and `StoreRefusal` for invalid
 * arguments.
 */
export const runOperation = (access: StoreAccess, operation: string, given: Row): string => {
  if (operation === 'now') return JSON.stringify(access.now());
  if (operation === 'uuid') return JSON.stringify(access.uuid());
  if (operation === 'mint_token') return JSON.stringify(access.mintToken());
  if (operation === 'revoke_token') {
    access.revokeToken();
    return nothing;
  }
  if (operation === 'deliver') {
    access.deliver(eventOf(given));
    return nothing;
  }
  const entity = entityOf(given);
  switch (operation) {
    case 'get':
      return access.get(entity, objectOf(entity, given, 'key', keyExample)) ?? nothing;
    case 'query':
      return `[${access.query(entity, queryOf(entity, given)).join(',')}]`;
    case 'count':
      return String(access.count(entity, filtersOf(entity, given)));
    case 'insert':
      return access.insert(entity, objectOf(entity, given, 'row', keyExample));
    case 'update': {
      const key = objectOf(entity, given, 'key', keyExample);
      return access.update(entity, key, objectOf(entity, given, 'patch', '{"state": "closed"}'));
    }
    case 'remove':
      access.remove(entity, objectOf(entity, given, 'key', keyExample));
      return nothing;
    case 'next':
      return String(access.nextInteger(entity, String(given.field), withinOf(entity, given)));
    default:
      return refuseArgument(entity, `there is no operation "${operation}"`);
  }
};

/** Returns an operation's error as the refusal that user code may see; undefined if the host is at fault. */
export const refusalOf = (error: unknown, given: Row): Refusal | undefined => {
  if (error instanceof StoreRefusal) {
    const { entity, kind, detail, field = null, pointer = null } = error;
    return { entity, kind, detail, field, pointer };
  }
  if (error instanceof AppError) {
    const entity = String(given.entity ?? '');
    return { entity, kind: error.code, detail: error.message, field: null, pointer: null };
  }
  return undefined;
};
