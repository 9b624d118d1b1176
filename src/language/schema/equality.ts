/**
 * Equality of JSON values for `const`, `enum` and `uniqueItems`, which is decided by comparing texts that are the same
 * for equal values. Names that every JavaScript object inherits are ordinary keys here. A list is read once, however
 * long it is.
 */
import { _, type CodeKeywordDefinition } from 'ajv/dist/2020.js';
import { type Steps, stepsOfWriting } from './steps.ts';

/** Returns a text that is the same for two values exactly if they are equal; the order of keys is ignored. */
export const equalityText = (value: unknown): string => {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(equalityText).join()}]`;
  const keys = Object.keys(value).sort();
  const held = value as Readonly<Record<string, unknown>>;
  return `{${keys.map((key) => `${JSON.stringify(key)}:${equalityText(held[key])}`).join()}}`;
};

/** Function like `equalityText` that counts its steps. */
type Write = (value: unknown) => string;

const writeCounted =
  ({ take }: Steps): Write =>
  (value) => {
    const text = equalityText(value);
    take(stepsOfWriting(text));
    return text;
  };

/** Returns true if no two items of a list are equal. */
export const isDistinct = (list: readonly unknown[], steps: Steps): boolean => {
  const write = writeCounted(steps);
  const seen = new Set<string>();
  return list.every((item) => seen.size < seen.add(write(item)).size);
};

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null;

/** Returns a function that returns true for a value that equals one of the given values. */
export const memberTest = (
  values: readonly unknown[],
  steps: Steps,
): ((value: unknown) => boolean) => {
  const write = writeCounted(steps);
  const scalars = new Set(values.filter(isScalar));
  const texts = new Set(values.filter((value) => !isScalar(value)).map(equalityText));
  if (texts.size === 0) return (value) => scalars.has(value);
  return (value) => scalars.has(value) || (!isScalar(value) && texts.has(write(value)));
};

/** Returns the keywords `const`, `enum` and `uniqueItems`, which replace those of the validator. */
export const equalityKeywords = (steps: Steps): CodeKeywordDefinition[] => {
  return [
    {
      keyword: 'const',
      error: {
        message: 'must be equal to constant',
        params: ({ schemaCode }) => _`{allowedValue: ${schemaCode}}`,
      },
      code(cxt) {
        const test = cxt.gen.scopeValue('func', { ref: memberTest([cxt.schema], steps) });
        cxt.pass(_`${test}(${cxt.data})`);
      },
    },
    {
      keyword: 'enum',
      schemaType: 'array',
      error: {
        message: 'must be equal to one of the allowed values',
        params: ({ schemaCode }) => _`{allowedValues: ${schemaCode}}`,
      },
      code(cxt) {
        const test = cxt.gen.scopeValue('func', {
          ref: memberTest(cxt.schema as unknown[], steps),
        });
        cxt.pass(_`${test}(${cxt.data})`);
      },
    },
    {
      keyword: 'uniqueItems',
      type: 'array',
      schemaType: 'boolean',
      error: { message: 'must not hold an item twice' },
      code(cxt) {
        if (cxt.schema !== true) return;
        const isOfDistinct = (list: readonly unknown[]): boolean => isDistinct(list, steps);
        const test = cxt.gen.scopeValue('func', { ref: isOfDistinct });
        cxt.pass(_`${test}(${cxt.data})`);
      },
    },
  ];
};
