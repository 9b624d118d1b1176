/** Action `read`: answers with the rows that the filter selects, or with one page of them, in insertion order. */

import { filtersOf } from '../../routes/filter-values.ts';
import { type ApiAnswer, FailedAction, rowsAnswer, vendorAnswer } from '../answers/answer.ts';
import { invalidAnswer } from '../answers/invalid-answer.ts';
import { cutPage } from '../pages/page.ts';
import { pageWords, wantedBy } from '../pages/page-answer.ts';
import { maxPageRows, readPageRequest } from '../pages/page-request.ts';
import { type ActionContext, type PlainAction, planFor } from './action.ts';

const readPage = (context: ActionContext): ApiAnswer => {
  const { api, args, links, route, store } = context;
  const plan = planFor(context);
  const page = cutPage({
    api,
    route,
    store,
    entity: plan.entity.name,
    where: filtersOf(plan, args),
    request: readPageRequest({ api, route, args }),
    wanted: wantedBy(context, api.paging.links && links !== undefined),
  });
  return rowsAnswer(route, plan, page.rows, page.total, pageWords(context, page, links));
};

const readOne = (context: ActionContext): ApiAnswer => {
  const { api, args, route, store } = context;
  const plan = planFor(context);
  const rows = store.query(plan.entity.name, { where: filtersOf(plan, args), limit: 1 });
  if (rows.length > 0) return rowsAnswer(route, plan, rows);
  return vendorAnswer(api, route.notFound, `no row of ${plan.entity.name} matches`);
};

/**
 * Answers with all rows, at most `maxPageRows`. If there are more, the header `x-svc-rows` and the ledger name the
 * total. A tool has no headers, so a tool call that matches more rows fails.
 */
const readAll = (context: ActionContext): ApiAnswer => {
  const { api, args, links, route, store } = context;
  const plan = planFor(context);
  const where = filtersOf(plan, args);
  const rows = store.query(plan.entity.name, { where, limit: maxPageRows + 1 });
  if (rows.length <= maxPageRows) return rowsAnswer(route, plan, rows);
  rows.pop();
  const total = store.count(plan.entity.name, where);
  const found = `${total} rows of ${plan.entity.name} match, and a list without pages has ${maxPageRows} at most`;
  if (links === undefined) {
    const reason = `${found}; narrow what is asked for, or give the operation pages`;
    const wrongs = [{ param: null, field: null, message: reason }];
    throw new FailedAction(invalidAnswer(api, { wrongs, reason }));
  }
  const page = { keys: [], headers: { 'x-svc-rows': `${maxPageRows} of ${total}` } };
  return { ...rowsAnswer(route, plan, rows, total, page), reason: found };
};

export const read: PlainAction = (context) => {
  const { page, single } = context.route;
  if (page !== 'none') return readPage(context);
  return single ? readOne(context) : readAll(context);
};
