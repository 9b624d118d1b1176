/**
 * Tools by convention, each for one entity:
 *
 * - `list`: returns rows. A row must equal the input in those members that are fields; a list of values matches any of
 *   them. `limit` and `offset` select a page.
 * - `get`, `delete`: find the row with a primary key and return it.
 * - `create`: inserts a row, given as the input itself or as its member `row`.
 * - `update`: takes the primary key and the fields to change, and returns the updated row.
 */

import { isObject, toPointer } from '#domain/json.ts';
import type { Contract, EntityContract, Row, ToolBinding } from '#language/contract.ts';
import { StoreRefusal } from '#store/refusal.ts';
import { hasField } from '../../routes/field-types.ts';
import { CallFailure } from '../answers/failure.ts';
import type { ToolContext } from './tool.ts';

type Binding = Extract<ToolBinding, { kind: 'convention' }>;
type Verb = Binding['verb'];

type Convention = (context: ToolContext, entity: EntityContract) => unknown;

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null;

const pageNumber = (input: Row, name: 'limit' | 'offset'): number | undefined => {
  const value = input[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  const message = `${name} must be a whole number from 0`;
  throw new CallFailure({ code: 'invalid_input', message, path: `/${name}` });
};

/** Returns the row whose primary key is in the input. Throws `StoreRefusal` if there is none. */
const readRow = ({ store, input }: ToolContext, entity: EntityContract): Row => {
  const payload = store.get(entity.name, input);
  if (payload !== undefined) return JSON.parse(payload) as Row;
  const key = entity.primaryKey.map((field) => `${field} ${JSON.stringify(input[field])}`);
  const [field = ''] = entity.primaryKey;
  const detail = `there is no row with ${key.join(', ')}`;
  const pointer = toPointer([field]);
  throw new StoreRefusal({ entity: entity.name, kind: 'not_found', field, pointer, detail });
};

const list: Convention = ({ contract, store, input }, entity) => {
  const isField = (name: string): boolean => hasField(contract.definitions, entity, name);
  const isPaging = (name: string): boolean =>
    (name === 'limit' || name === 'offset') && !isField(name);
  const names = Object.keys(input).filter((name) => !isPaging(name));
  const unknown = names.find((name) => !isField(name));
  if (unknown !== undefined) {
    const message = `"${unknown}" is no field of ${entity.name}, so the list cannot be filtered by it`;
    throw new CallFailure({ code: 'invalid_input', message, path: toPointer([unknown]) });
  }
  const unasked = names.find((name) => ![input[name]].flat().every(isScalar));
  if (unasked !== undefined) {
    const message = `"${unasked}" can be matched with a text, a number, a boolean or null, or a list of them`;
    throw new CallFailure({ code: 'invalid_input', message, path: toPointer([unasked]) });
  }
  const rows = store.query(entity.name, {
    where: names.map((name) => ({ path: [name], match: 'equals', value: input[name] })),
    limit: isField('limit') ? undefined : pageNumber(input, 'limit'),
    offset: isField('offset') ? undefined : pageNumber(input, 'offset'),
  });
  return rows.map((row) => JSON.parse(row) as Row);
};

/** Returns true if the row to create is the input's member `row` instead of the input itself. */
const isWrapped = ({ definitions }: Contract, entity: EntityContract, input: Row): boolean =>
  isObject(input.row) && !hasField(definitions, entity, 'row');

const create: Convention = ({ contract, store, input }, entity) => {
  const row = isWrapped(contract, entity, input) ? (input.row as Row) : input;
  store.insert(entity.name, row);
  return row;
};

const update: Convention = (context, entity) => {
  readRow(context, entity);
  return JSON.parse(context.store.update(entity.name, context.input, context.input)) as Row;
};

const remove: Convention = (context, entity) => {
  const row = readRow(context, entity);
  context.store.remove(entity.name, context.input);
  return row;
};

const conventions: Record<Verb, Convention> = {
  list,
  get: readRow,
  create,
  update,
  delete: remove,
};

const findEntity = ({ entities }: Contract, { entity: name }: Binding): EntityContract => {
  const entity = entities.find((candidate) => candidate.name === name);
  if (entity === undefined) throw new Error(`there is no entity "${name}"`);
  return entity;
};

/** Returns the pointer to the row, or to its primary key, in the input of a conventional tool. */
export const rowInInput = (contract: Contract, binding: Binding, input: Row): string =>
  binding.verb === 'create' && isWrapped(contract, findEntity(contract, binding), input)
    ? '/row'
    : '';

/** Runs a conventional tool and returns its output. */
export const runConvention = (context: ToolContext, binding: Binding): unknown =>
  conventions[binding.verb](context, findEntity(context.contract, binding));
