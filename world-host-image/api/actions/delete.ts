/** Action `delete`: removes the rows that the filter selects. A status with a body answers them. */
import { rowsAnswer } from '../answer.ts';
import { type Action, entityOf } from './action.ts';
import { matchingRows } from './matching-rows.ts';

export const remove: Action = (context) => {
  const { route, store } = context;
  const entity = entityOf(context);
  const rows = matchingRows(context, entity);
  for (const row of rows) store.remove(entity.name, row);
  return rowsAnswer(
    route,
    rows.map((row) => JSON.stringify(row)),
  );
};
