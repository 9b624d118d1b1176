/**
 * Action `create`: one new row out of constants, body, path and generated values, in this order; what
 * the path says wins over the body, so that a row lands where it was posted to.
 */
import type { Row } from '#language/contract.ts';
import { assignPath, filterAssignments } from '../../routes/filter-values.ts';
import { rowsAnswer } from '../answers/answer.ts';
import { type PlainAction, planFor } from './action.ts';
import { defaultsOf, writeBody, writeGenerated } from './written-fields.ts';

export const create: PlainAction = (context) => {
  const { args, route, store } = context;
  const plan = planFor(context);
  const row: Row = defaultsOf(context);
  writeBody(context, plan.entity, row);
  for (const { path, value } of filterAssignments(plan, args)) assignPath(row, path, value);
  writeGenerated(context, plan.entity, row);
  store.insert(plan.entity.name, row);
  return rowsAnswer(route, plan, [JSON.stringify(row)]);
};
