/** Converts the arguments of a request to the types of their fields, and a route's filter to filters of the store. */
import type { FieldPath } from '#language/contract.ts';
import type { Filter } from '#store/read/filter.ts';
import type { JsonType } from './field-types.ts';
import type { RoutePlan } from './route-plan.ts';

/** Path arguments and declared query parameters by name; a repeated parameter is a list. */
export type Arguments = Readonly<Record<string, string | string[]>>;

const readNumber = (types: ReadonlySet<JsonType>, text: string): number | undefined => {
  const pattern = types.has('number') ? /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i : /^-?\d+$/;
  if (!types.has('number') && !types.has('integer')) return undefined;
  const value = Number(text);
  return pattern.test(text) && Number.isFinite(value) ? value : undefined;
};

/** Returns the text converted to one of the field's types; the text itself if it fits none of them. */
export const readText = (types: ReadonlySet<JsonType>, text: string): string | number | boolean => {
  const number = readNumber(types, text);
  if (number !== undefined) return number;
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return text;
};

/** Returns every value that the text may mean. If a field may have numbers and strings, these are both. */
const meanings = (types: ReadonlySet<JsonType>, text: string): unknown[] => {
  const read = readText(types, text);
  return read !== text && types.has('string') ? [read, text] : [read];
};

/** Returns the store's filters for the arguments in a request. A missing argument does not filter. */
export const filtersOf = ({ filters }: Pick<RoutePlan, 'filters'>, args: Arguments): Filter[] =>
  filters.flatMap(({ argument, path, match, types }) => {
    const given = args[argument];
    if (given === undefined) return [];
    const value = [given].flat().flatMap((text) => meanings(types, text));
    return [{ path, match, value }];
  });

/** Returns the fields that the route's filter sets in a row that the request creates: paths with their values. */
export const filterAssignments = (
  { filters }: Pick<RoutePlan, 'filters'>,
  args: Arguments,
): { path: FieldPath; value: unknown }[] =>
  filters.flatMap(({ argument, path, match, types }) => {
    const given = args[argument];
    if (match !== 'equals' || typeof given !== 'string') return [];
    return [{ path, value: readText(types, given) }];
  });
