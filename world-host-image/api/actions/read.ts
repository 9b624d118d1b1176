/** Action `read`: the rows that the filter selects, or a page of them, in the order of insertion. */
import { type ApiAnswer, rowsAnswer, vendorAnswer } from '../answer.ts';
import { filtersOf } from '../filter-values.ts';
import { cutPage } from '../pages/page.ts';
import { pageWords, toldBy } from '../pages/page-answer.ts';
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
    told: toldBy(context, api.paging.links && links !== undefined),
  });
  return rowsAnswer(route, plan, page.rows, page.total, pageWords(context, page, links));
};

export const read: PlainAction = (context) => {
  const { api, args, route, store } = context;
  if (route.page !== 'none') return readPage(context);
  const plan = planFor(context);
  const where = filtersOf(plan, args);
  const limit = route.single ? 1 : maxPageRows;
  const rows = store.query(plan.entity.name, { where, limit });
  if (route.single && rows.length === 0) {
    return vendorAnswer(api, route.notFound, `no row of ${plan.entity.name} matches`);
  }
  return rowsAnswer(route, plan, rows);
};
