/** Action `update`: writes constants, body and generated values into the rows that the filter selects. */
import { rowsAnswer } from '../answer.ts';
import { type Action, planFor } from './action.ts';
import { matchingRows } from './matching-rows.ts';
import { writeBody, writeGenerated } from './written-fields.ts';

export const update: Action = (context) => {
  const { route, store } = context;
  const plan = planFor(context);
  const updated = matchingRows(context, plan).map((row) => {
    const changed = { ...structuredClone(row), ...structuredClone(route.defaults) };
    writeBody(context, plan.entity, changed);
    writeGenerated(context, plan.entity, changed);
    return store.update(plan.entity.name, row, changed);
  });
  return rowsAnswer(route, plan, updated);
};
