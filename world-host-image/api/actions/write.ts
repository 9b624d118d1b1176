/**
 * Actions that write rows. `create` inserts one row made of constants, body, path arguments and generated values, in
 * this order. Path arguments override the body, so that a row belongs to the resource it was posted to. `update`
 * writes constants, body and generated values into the rows that the filter selects; `delete` removes them. If the
 * route's status allows a body, both answer with the rows.
 */
import type { Row } from '#language/contract.ts';
import { assignPath } from '#language/field-path.ts';
import { filterAssignments, filtersOf } from '../../routes/filter-values.ts';
import { FailedAction, rowsAnswer, vendorAnswer } from '../answers/answer.ts';
import { invalidArgument } from '../answers/invalid-answer.ts';
import { type ActionContext, type EntityPlan, type PlainAction, planFor } from './action.ts';
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

/**
 * Returns the rows that an `update` or `delete` acts on: the first that its filter selects, or all of them. Throws
 * `FailedAction` with the vendor's answer when an argument is missing or no row matches.
 */
const matchingRows = (context: ActionContext, plan: EntityPlan): Row[] => {
  const { entity } = plan;
  const { api, args, route, store } = context;
  const missing = route.filter.find(({ argument }) => args[argument] === undefined);
  if (missing !== undefined) {
    const detail = 'must be given, or the filter would select too much';
    throw new FailedAction(invalidArgument(api, missing.argument, detail));
  }
  const where = filtersOf(plan, args);
  const rows = store.query(entity.name, { where, limit: route.single ? 1 : undefined });
  if (rows.length === 0) {
    throw new FailedAction(vendorAnswer(api, route.notFound, `no row of ${entity.name} matches`));
  }
  return rows.map((row) => JSON.parse(row) as Row);
};

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
