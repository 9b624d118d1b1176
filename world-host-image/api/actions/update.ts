/** Action `update`: writes constants, body and generated values into the rows that the filter selects. */
import { rowsAnswer } from '../answers/answer.ts';
import { type PlainAction, planFor } from './action.ts';
import { matchingRows } from './matching-rows.ts';
import { defaultsOf, writeBody, writeGenerated } from './written-fields.ts';

export const update: PlainAction = (context) => {
  const { route, store } = context;
  const plan = planFor(context);
  const updated = matchingRows(context, plan).map((row) => {
    const changed = { ...row, ...defaultsOf(context) };
    writeBody(context, plan.entity, changed);
    writeGenerated(context, plan.entity, changed);
    return store.update(plan.entity.name, row, changed);
  });
  return rowsAnswer(route, plan, updated);
};
