/** The rows that an `update` or `delete` acts on: the first that its filter selects, or all of them. */
import type { Row } from '#language/contract.ts';
import { filtersOf } from '../../routes/filter-values.ts';
import { FailedAction, vendorAnswer } from '../answers/answer.ts';
import type { ActionContext, EntityPlan } from './action.ts';

/** Fails with the vendor's answer when an argument is missing or nothing matches. */
export const matchingRows = (context: ActionContext, plan: EntityPlan): Row[] => {
  const { entity } = plan;
  const { api, args, route, store } = context;
  const missing = route.filter.find(({ argument }) => args[argument] === undefined);
  if (missing !== undefined) {
    const reason = `"${missing.argument}" must be given, or the filter would select too much`;
    throw new FailedAction(vendorAnswer(api, api.invalid, reason));
  }
  const where = filtersOf(plan, args);
  const rows = store.query(entity.name, { where, limit: route.single ? 1 : undefined });
  if (rows.length === 0) {
    throw new FailedAction(vendorAnswer(api, route.notFound, `no row of ${entity.name} matches`));
  }
  return rows.map((row) => JSON.parse(row) as Row);
};
