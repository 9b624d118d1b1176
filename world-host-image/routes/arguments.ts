/**
 * Reads the arguments of a request: arguments of the path, the query parameters that the route declares, and the paging
 * parameters. All other parameters are ignored. If a parameter is given several times but not declared as repeated, its
 * last value counts. A repeated parameter is a list, in any of the notations `ids=1&ids=2`, `ids[]=1&ids[]=2` and
 * `ids[0]=1&ids[1]=2`.
 */
import type { ApiContract, PageKind, RouteContract } from '#language/contract.ts';
import type { Arguments } from './filter-values.ts';

/** Returns the names of the query parameters that control the paging of a route. */
export const pagingParams = (page: PageKind, { paging }: ApiContract): string[] => {
  if (page === 'none') return [];
  return [paging.limitParam, page === 'offset' ? paging.offsetParam : paging.cursorParam];
};

/** Maximum number of values of a repeated parameter in the notation with positions (`ids[0]=1`). */
const maxPositions = 1_000;

const repeatedValues = (query: URLSearchParams, name: string): string[] => {
  const values = [...query.getAll(name), ...query.getAll(`${name}[]`)];
  for (let position = 0; position < maxPositions; position += 1) {
    const value = query.get(`${name}[${position}]`);
    if (value === null) break;
    values.push(value);
  }
  return values;
};

/** Returns the arguments as an object without a prototype, because an argument may have any name. */
export const readArguments = (
  api: ApiContract,
  route: RouteContract,
  pathArguments: Arguments,
  query: URLSearchParams,
): Arguments => {
  const args: Record<string, string | string[]> = Object.assign(Object.create(null), pathArguments);
  if (query.size === 0) return args;
  for (const { name, repeated } of route.params) {
    const values = repeated ? repeatedValues(query, name) : query.getAll(name);
    const last = values.at(-1);
    if (last !== undefined) args[name] = repeated ? values : last;
  }
  for (const name of pagingParams(route.page, api)) {
    const last = query.getAll(name).at(-1);
    if (last !== undefined) args[name] = last;
  }
  return args;
};
