/**
 * Writes a request's fields into a row: the route's constants, then values from the body, then generated values. A path
 * may name a field inside a nested object.
 */
import { isObject } from '#domain/json.ts';
import type { EntityContract, FieldPath, Row } from '#language/contract.ts';
import { assignPath, valueAtPath } from '#language/field-path.ts';
import { fieldTypes } from '../../routes/field-types.ts';
import { readText } from '../../routes/filter-values.ts';
import { FailedAction } from '../answers/answer.ts';
import { invalidAnswer } from '../answers/invalid-answer.ts';
import type { ActionContext } from './action.ts';

/**
 * Converts a form's value to the type of the field at the path. "5" becomes a number in a numeric field. An empty
 * string becomes null if the field is nullable and not a string.
 */
const valueOfForm = (
  contract: ActionContext['contract'],
  entity: EntityContract,
  path: FieldPath,
  value: unknown,
): unknown => {
  const inner = (step: string, member: unknown) =>
    valueOfForm(contract, entity, [...path, step], member);
  if (Array.isArray(value)) return value.map((item) => inner('0', item));
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, inner(key, member)]),
    );
  }
  const types = fieldTypes(contract.definitions, entity, path);
  if (value === '' && types.has('null') && !types.has('string')) return null;
  return readText(types, String(value));
};

/** Returns a new row with the route's constant fields. The caller may change this row. */
export const defaultsOf = ({ route: { defaults } }: ActionContext): Row =>
  Object.keys(defaults).length === 0 ? {} : structuredClone(defaults);

/** Sets a field, whatever its name. Even `__proto__` becomes an own field, which the contract then rejects. */
const setField = (row: Row, field: string, value: unknown): void => {
  if (field !== '__proto__') row[field] = value;
  else Object.defineProperty(row, field, { value, configurable: true, enumerable: true });
};

/** Writes fields of the body into the row: the fields that the route maps, or all fields if the route maps none. */
export const writeBody = (context: ActionContext, entity: EntityContract, row: Row): void => {
  const { api, body = {}, contract, isForm = false, route } = context;
  if (!isObject(body)) {
    const reason = 'the body must be an object';
    const wrongs = [{ param: null, field: null, message: reason }];
    throw new FailedAction(invalidAnswer(api, { cause: 'shape', wrongs, reason }));
  }
  const valueFor = (path: FieldPath, value: unknown): unknown =>
    isForm ? valueOfForm(contract, entity, path, value) : value;
  if (route.body.length === 0) {
    for (const [field, value] of Object.entries(body)) {
      setField(row, field, valueFor([field], value));
    }
  }
  for (const { field, from } of route.body) {
    const value = valueAtPath(body, from);
    if (value !== undefined) assignPath(row, field, valueFor(field, value));
  }
};

const generateNow = (
  { contract, session: { clock } }: ActionContext,
  entity: EntityContract,
  field: string,
) => {
  const types = fieldTypes(contract.definitions, entity, [field]);
  const isNumber = types.has('integer') || types.has('number');
  return isNumber ? Math.floor(clock.now().getTime() / 1000) : clock.iso();
};

/** Writes the generated fields. The value `now` is written as seconds since 1970 if the field is numeric. */
export const writeGenerated = (context: ActionContext, entity: EntityContract, row: Row): void => {
  for (const { field, with: how } of context.route.generate) {
    if (how === 'uuid') row[field] = context.session.ids.uuid();
    else if (how === 'int') row[field] = context.store.nextNumber(entity.name, field);
    else row[field] = generateNow(context, entity, field);
  }
};
