/**
 * What a condition may say of a field. A scalar: it has this value. A list: one of these. An object of operators: all of
 * them hold, as in `{"gt": 10, "lte": 20}`.
 */
import { isObject } from '#domain/json.ts';

/** How a field is compared, each with what stands behind it. */
export const operators = [
  'eq',
  'ne',
  'in',
  'lt',
  'lte',
  'gt',
  'gte',
  'contains',
  'matches',
  'exists',
] as const;
export type Operator = (typeof operators)[number];

export type Comparison = { operator: Operator; operand: unknown };

const isScalar = (value: unknown): boolean =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value);

/** What each operator takes, in words, and whether a value is that. */
const operands: Record<Operator, [what: string, fits: (value: unknown) => boolean]> = {
  eq: ['a scalar', isScalar],
  ne: ['a scalar', isScalar],
  in: ['a list of scalars', (value) => Array.isArray(value) && value.every(isScalar)],
  lt: ['a number or a text', (value) => ['number', 'string'].includes(typeof value)],
  lte: ['a number or a text', (value) => ['number', 'string'].includes(typeof value)],
  gt: ['a number or a text', (value) => ['number', 'string'].includes(typeof value)],
  gte: ['a number or a text', (value) => ['number', 'string'].includes(typeof value)],
  contains: ['a text, a number or a boolean', (value) => isScalar(value) && value !== null],
  matches: ['a regular expression as a text', (value) => typeof value === 'string'],
  exists: ['true or false', (value) => typeof value === 'boolean'],
};

const isOperator = (name: string): name is Operator =>
  (operators as readonly string[]).includes(name);

/** Whether an object is made of operators alone, and is no path to a field written as a table. */
export const isComparison = (value: object): boolean => {
  const names = Object.keys(value);
  return names.length > 0 && names.every(isOperator);
};

/** What a condition says of its field, or what is wrong with how it says that. */
export const readCondition = (wanted: unknown): Comparison[] | { fault: string } => {
  if (isScalar(wanted)) return [{ operator: 'eq', operand: wanted }];
  if (Array.isArray(wanted)) {
    if (wanted.every(isScalar)) return [{ operator: 'in', operand: wanted }];
    return { fault: 'a list may hold scalars only' };
  }
  if (!isObject(wanted)) return { fault: 'is no scalar, list or comparison' };
  const entries = Object.entries(wanted);
  if (entries.length === 0)
    return { fault: `compares nothing: give one of ${operators.join(', ')}` };
  const comparisons: Comparison[] = [];
  for (const [operator, operand] of entries) {
    if (!isOperator(operator)) {
      return {
        fault: `"${operator.slice(0, 100)}" is no operator; there are ${operators.join(', ')}`,
      };
    }
    const [what, fits] = operands[operator];
    if (!fits(operand)) return { fault: `"${operator}" takes ${what}` };
    comparisons.push({ operator, operand });
  }
  return comparisons;
};

/** The values that a field is compared with. */
export const valuesOf = ({ operator, operand }: Comparison): unknown[] => {
  if (operator === 'exists' || operator === 'matches') return [];
  return Array.isArray(operand) ? operand : [operand];
};
