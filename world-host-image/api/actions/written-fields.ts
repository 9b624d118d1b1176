/**
 * What a request writes into a row: the route's constant fields, then what it takes from the body,
 * then generated values. Paths reach into nested objects.
 */
import type { EntityContract, Row } from '#language/contract.ts';
import { vendorAnswer } from '../answer.ts';
import { fieldTypes } from '../field-types.ts';
import { assignPath, valueAtPath } from '../filter-values.ts';
import { type ActionContext, FailedAction } from './action.ts';

const isObject = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Writes the fields that the body gives: the mapped ones, or all of them when the route maps none. */
export const writeBody = ({ api, route, body = {} }: ActionContext, row: Row): void => {
  if (!isObject(body)) {
    throw new FailedAction(vendorAnswer(api, api.invalid, 'the body must be a JSON object'));
  }
  if (route.body.length === 0) Object.assign(row, body);
  for (const { field, from } of route.body) {
    const value = valueAtPath(body, from);
    if (value !== undefined) assignPath(row, field, value);
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

/** Writes the generated fields: `now` is seconds since 1970 in a field of numbers. */
export const writeGenerated = (context: ActionContext, entity: EntityContract, row: Row): void => {
  for (const { field, with: how } of context.route.generate) {
    if (how === 'uuid') row[field] = context.session.ids.uuid();
    else if (how === 'int') row[field] = context.store.largest(entity.name, field) + 1;
    else row[field] = generateNow(context, entity, field);
  }
};
