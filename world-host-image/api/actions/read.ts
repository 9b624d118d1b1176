/** Action `read`: the rows that the filter selects, in the order they came into the world. */
import { rowsAnswer, vendorAnswer } from '../answer.ts';
import { filtersOf } from '../filter-values.ts';
import { type Action, entityOf } from './action.ts';

/** Routes do not page yet, so this bounds what one request can ask for. */
const maxRows = 10_000;

export const read: Action = (context) => {
  const { api, route, store } = context;
  const entity = entityOf(context);
  const where = filtersOf({ ...context, entity });
  const rows = store.query(entity.name, { where, limit: route.single ? 1 : maxRows });
  if (route.single && rows.length === 0) {
    return vendorAnswer(api, route.notFound, `no row of ${entity.name} matches`);
  }
  return rowsAnswer(route, rows);
};
