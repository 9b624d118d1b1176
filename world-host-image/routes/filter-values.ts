/**
 * Reads the arguments of a request as values of the fields they stand for, and a route's filter with
 * them as filters of the store.
 */
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

/** The text as the field's type has it; the text itself where it fits no other type. */
export const readText = (types: ReadonlySet<JsonType>, text: string): string | number | boolean => {
  const number = readNumber(types, text);
  if (number !== undefined) return number;
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return text;
};

/** Every value that the text may mean: a field of numbers and texts may hold either. */
const meanings = (types: ReadonlySet<JsonType>, text: string): unknown[] => {
  const read = readText(types, text);
  return read !== text && types.has('string') ? [read, text] : [read];
};

/** The filters whose arguments the request gave; one that it left out does not filter. */
export const filtersOf = ({ filters }: Pick<RoutePlan, 'filters'>, args: Arguments): Filter[] =>
  filters.flatMap(({ argument, path, match, types }) => {
    const given = args[argument];
    if (given === undefined) return [];
    const value = [given].flat().flatMap((text) => meanings(types, text));
    return [{ path, match, value }];
  });

/** What the filter says about a row that the request creates: paths with the values they must have. */
export const filterAssignments = (
  { filters }: Pick<RoutePlan, 'filters'>,
  args: Arguments,
): { path: FieldPath; value: unknown }[] =>
  filters.flatMap(({ argument, path, match, types }) => {
    const given = args[argument];
    if (match !== 'equals' || typeof given !== 'string') return [];
    return [{ path, value: readText(types, given) }];
  });
