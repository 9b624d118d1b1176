/**
 * Action `create`: one new row out of constants, body, path and generated values, in this order; what
 * the path says wins over the body, so that a row lands where it was posted to.
 */
import type { Row } from '#language/contract.ts';
import { rowsAnswer } from '../answer.ts';
import { assignPath, filterAssignments } from '../filter-values.ts';
import { type Action, entityOf } from './action.ts';
import { writeBody, writeGenerated } from './written-fields.ts';

export const create: Action = (context) => {
  const { route, store } = context;
  const entity = entityOf(context);
  const row: Row = structuredClone(route.defaults);
  writeBody(context, row);
  for (const { path, value } of filterAssignments({ ...context, entity })) {
    assignPath(row, path, value);
  }
  writeGenerated(context, entity, row);
  store.insert(entity.name, row);
  return rowsAnswer(route, [JSON.stringify(row)]);
};
