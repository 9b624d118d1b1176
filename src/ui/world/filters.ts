/** Conditions of a list: parses and formats them. */
import { readInput } from './inputs.ts';
import { fieldOf, type PageEntity, type PageField, type Row } from './model.ts';

export type Operator = 'eq' | 'ne' | 'contains' | 'lt' | 'lte' | 'gt' | 'gte' | 'empty' | 'filled';

export const operatorWords: Record<Operator, string> = {
  eq: 'is',
  ne: 'is not',
  contains: 'contains',
  lt: 'is less than',
  lte: 'is at most',
  gt: 'is more than',
  gte: 'is at least',
  empty: 'is empty',
  filled: 'is not empty',
};

export const operatorsOf = ({ kind, of }: PageField): Operator[] => {
  if (of === 'list') return ['contains', 'empty', 'filled'];
  if (kind === 'json') return ['empty', 'filled'];
  if (kind === 'boolean' || kind === 'choice') return ['eq', 'ne', 'empty', 'filled'];
  if (kind === 'text') return ['contains', 'eq', 'ne', 'gte', 'lte', 'empty', 'filled'];
  return ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'empty', 'filled'];
};

export const takesValue = (operator: Operator): boolean =>
  operator !== 'empty' && operator !== 'filled';

/** Parses a condition into the host's form, or returns what is wrong with it. */
export const readFilter = (
  field: PageField,
  operator: Operator,
  text: string,
): { condition: Row } | { fault: string } => {
  if (!takesValue(operator)) return { condition: { exists: operator === 'filled' } };
  if (text === '') return { fault: 'Enter a value.' };
  if (operator === 'contains') return { condition: { contains: text } };
  const read = readInput(field, text);
  return 'fault' in read ? read : { condition: { [operator]: read.value } };
};

const tellCondition = (operator: string, value: unknown): string => {
  if (operator === 'exists') return operatorWords[value === true ? 'filled' : 'empty'];
  const words = Object.hasOwn(operatorWords, operator)
    ? operatorWords[operator as Operator]
    : operator;
  return `${words} ${typeof value === 'string' ? value : JSON.stringify(value)}`;
};

export type ToldFilter = { field: string; operator: string | null; words: string };

/** Formats every condition of a list, with its field and operator. */
export const describeFilters = (entity: PageEntity, where: Row): ToldFilter[] =>
  Object.entries(where).flatMap(([field, wanted]): ToldFilter[] => {
    const label = fieldOf(entity, field)?.label ?? field;
    if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) {
      return [{ field, operator: null, words: `${label} ${tellCondition('eq', wanted)}` }];
    }
    return Object.entries(wanted).map(([operator, value]) => ({
      field,
      operator,
      words: `${label} ${tellCondition(operator, value)}`,
    }));
  });

/** Returns the conditions of a list without one of them. */
export const withoutFilter = (where: Row, field: string, operator: string | null): Row => {
  const { [field]: wanted, ...others } = where;
  if (operator === null || typeof wanted !== 'object' || wanted === null) return others;
  const left = Object.fromEntries(Object.entries(wanted).filter(([name]) => name !== operator));
  return Object.keys(left).length === 0 ? others : { ...others, [field]: left };
};

/** Returns the conditions of a list with one more. A field can have several conditions. */
export const withFilter = (where: Row, field: string, condition: Row): Row => {
  const own = where[field];
  const isComparison = typeof own === 'object' && own !== null && !Array.isArray(own);
  const before = own === undefined ? {} : isComparison ? own : { eq: own };
  return { ...where, [field]: { ...before, ...condition } };
};
