/**
 * Computes once for each route all facts about its answers that do not depend on the request: its entity, the types of
 * its arguments, and the text around its rows.
 */
import type {
  Contract,
  EntityContract,
  FieldPath,
  FilterMatch,
  RouteContract,
} from '#language/contract.ts';
import { itemTypes, type JsonType } from './field-types.ts';

export type PlannedFilter = {
  argument: string;
  path: FieldPath;
  match: FilterMatch;
  /** Types of the field; for a list, the types of its items. */
  types: ReadonlySet<JsonType>;
};

export type RoutePlan = {
  /** Entity of the route; undefined for a handler that names none. */
  entity: EntityContract | undefined;
  filters: readonly PlannedFilter[];
  /** Text before the answer's rows: `{"data":`, or '' without an envelope. */
  opening: string;
  /** Key of the row count in the envelope; null without an envelope, or if the world has no count key. */
  hitsKey: string | null;
};

type PlannedContract = Pick<Contract, 'definitions' | 'entities' | 'api'>;

const makePlan = (contract: PlannedContract, route: RouteContract): RoutePlan => {
  const entity = contract.entities.find(({ name }) => name === route.entity);
  const { envelope, filter } = route;
  const hitsKey = contract.api?.paging.hitsKey ?? '';
  return {
    entity,
    filters: filter.map(({ argument, path, match }) => ({
      argument,
      path,
      match,
      types: entity === undefined ? new Set() : itemTypes(contract.definitions, entity, path),
    })),
    opening: envelope === '' ? '' : `{${JSON.stringify(envelope)}:`,
    hitsKey: envelope === '' || hitsKey === '' || hitsKey === envelope ? null : hitsKey,
  };
};

const plans = new WeakMap<RouteContract, RoutePlan>();

/** Returns the plan of one of the contract's routes. */
export const planOf = (contract: PlannedContract, route: RouteContract): RoutePlan => {
  const known = plans.get(route);
  if (known !== undefined) return known;
  const plan = makePlan(contract, route);
  plans.set(route, plan);
  return plan;
};
