/**
 * What answering a route takes and no request changes: its entity, the types that its arguments are
 * read as, the text around its rows. Worked out once for each route.
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
  /** Types of the field, or of its items when it is a list. */
  types: ReadonlySet<JsonType>;
};

export type RoutePlan = {
  /** Undefined for a handler that is about none. */
  entity: EntityContract | undefined;
  filters: readonly PlannedFilter[];
  /** What stands before the answer's rows: `{"data":`, or nothing. */
  opening: string;
  /** Key of the count beside the rows; null without an envelope, or when the world counts nothing. */
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

/** The plan of one of the contract's routes. */
export const planOf = (contract: PlannedContract, route: RouteContract): RoutePlan => {
  const known = plans.get(route);
  if (known !== undefined) return known;
  const plan = makePlan(contract, route);
  plans.set(route, plan);
  return plan;
};
