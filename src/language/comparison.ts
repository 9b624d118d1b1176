/**
 * Conditions on a field. A scalar: the field must have this value. A list: the field must have one of these values. An
 * object of operators: all of them must be true, as in `{"gt": 10, "lte": 20}`.
 */
import { isObject } from '#domain/json.ts';

/** Operators of a comparison. In a condition, an operator is a key, and its value is the operand. */
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

/** Operand of each operator: its description for messages, and a function that tests a value. */
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

/**
 * Returns true if all keys of an object are operators. Otherwise the object may be a path to a field, written as a
 * table.
 */
export const isComparison = (value: object): boolean => {
  const names = Object.keys(value);
  return names.length > 0 && names.every(isOperator);
};

/** Parses a condition; returns the fault if the condition is malformed. */
export const readCondition = (wanted: unknown): Comparison[] | { fault: string } => {
  if (isScalar(wanted)) return [{ operator: 'eq', operand: wanted }];
  if (Array.isArray(wanted)) {
    if (wanted.every(isScalar)) return [{ operator: 'in', operand: wanted }];
    return { fault: 'a list must contain only scalars' };
  }
  if (!isObject(wanted)) return { fault: 'is neither a scalar, a list nor a comparison' };
  const entries = Object.entries(wanted);
  if (entries.length === 0)
    return { fault: `has no operator: give at least one of ${operators.join(', ')}` };
  const comparisons: Comparison[] = [];
  for (const [operator, operand] of entries) {
    if (!isOperator(operator)) {
      return {
        fault: `"${operator.slice(0, 100)}" is no operator; the operators are ${operators.join(', ')}`,
      };
    }
    const [what, fits] = operands[operator];
    if (!fits(operand)) return { fault: `"${operator}" takes ${what}` };
    comparisons.push({ operator, operand });
  }
  return comparisons;
};

/** Returns the values with which a comparison compares its field. */
export const valuesOf = ({ operator, operand }: Comparison): unknown[] => {
  if (operator === 'exists' || operator === 'matches') return [];
  return Array.isArray(operand) ? operand : [operand];
};
