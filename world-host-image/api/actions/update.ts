/** Action `update`: writes constants, body and generated values into the rows that the filter selects. */
import { rowsAnswer } from '../answer.ts';
import { type Action, entityOf } from './action.ts';
import { matchingRows } from './matching-rows.ts';
import { writeBody, writeGenerated } from './written-fields.ts';

export const update: Action = (context) => {
  const { route, store } = context;
  const entity = entityOf(context);
  const updated = matchingRows(context, entity).map((row) => {
    const changed = { ...structuredClone(row), ...structuredClone(route.defaults) };
    writeBody(context, changed);
    writeGenerated(context, entity, changed);
    return store.update(entity.name, row, changed);
  });
  return rowsAnswer(route, updated);
};
