/** Action `delete`: removes the rows that the filter selects. A status with a body answers them. */
import { rowsAnswer } from '../answers/answer.ts';
import { type PlainAction, planFor } from './action.ts';
import { matchingRows } from './matching-rows.ts';

export const remove: PlainAction = (context) => {
  const { route, store } = context;
  const plan = planFor(context);
  const rows = matchingRows(context, plan);
  for (const row of rows) store.remove(plan.entity.name, row);
  return rowsAnswer(
    route,
    plan,
    rows.map((row) => JSON.stringify(row)),
  );
};
