/**
 * Counts the steps of validating one value, and ends the validation if there are too many. A step is about the work of
 * one schema at one value.
 *
 * Steps are counted where work multiplies: when a definition is entered, in a loop over items or names, and when a text
 * or a whole value is read. So the limit applies to any combination of schema and value. Between two such points there
 * is only the schema's own text, whose size is bounded, and which `weightOf` counts as a whole.
 */
import { _, type CodeKeywordDefinition } from 'ajv/dist/2020.js';
import { isTable, type Table } from '../read/values.ts';
import { keywords } from './keywords.ts';

/** Thrown when a validation has used all its steps; `shapes.ts` catches it. */
export class OutOfSteps extends Error {}

export type Steps = {
  /** Starts a validation that may take `most` steps. */
  begin(most: number): void;
  /** Uses `count` steps; throws `OutOfSteps` if not enough are left. */
  take(count: number): void;
  /**
   * Uses `each` steps for each name of a value. The number of names is cached, because many schemas need it for one
   * value.
   */
  takeOfNames(value: Table, each: number): void;
};

/** Creates a counter of steps. */
export const createSteps = (): Steps => {
  let left = 0;
  let last: { value: Table; names: number } | undefined;
  const take = (count: number): void => {
    left -= count;
    if (left < 0) throw new OutOfSteps();
  };
  return {
    begin(most) {
      left = most;
      last = undefined;
    },
    take,
    takeOfNames(value, each) {
      if (last?.value !== value) last = { value, names: Object.keys(value).length };
      take(last.names * each);
    },
  };
};

/** Number of characters that are read in one step, and number of characters that are written in one step. */
const charsPerStep = 16;
const charsWrittenPerStep = 4;

/** Returns how many steps are counted when a validation reads a text once. */
export const stepsOfText = ({ length }: string): number => 1 + Math.ceil(length / charsPerStep);

/** Returns the number of steps of writing a value as this text. */
export const stepsOfWriting = ({ length }: string): number =>
  1 + Math.ceil(length / charsWrittenPerStep);

/** Keywords whose schemas apply to every item or name of a value. */
const alongItems = ['items', 'contains', 'unevaluatedItems'];
const alongNames = [
  'additionalProperties',
  'patternProperties',
  'propertyNames',
  'unevaluatedProperties',
];
const along: ReadonlySet<string> = new Set([...alongItems, ...alongNames]);

/** Keywords that list a value's names themselves, and the number of steps of listing one name. */
const countNames = ['minProperties', 'maxProperties'];
const stepsOfListing = 4;

/** Keywords that read a text, and the length above which reading it is counted. */
const readText = ['minLength', 'maxLength', 'format'];
const longText = 64;

/** Returns the schemas that one keyword of a schema contains. */
const heldUnder = (schema: Table, keyword: string): unknown[] => {
  const held = schema[keyword];
  switch (keywords.get(keyword)?.holds) {
    case 'one':
      return held === undefined ? [] : [held];
    case 'list':
      return Array.isArray(held) ? held : [];
    case 'map':
      return isTable(held) ? Object.values(held) : [];
    default:
      return [];
  }
};

/** Returns the number of steps for the lists of names in a schema. */
const requiredNames = ({ required, dependentRequired }: Table): number =>
  [required, ...Object.values(isTable(dependentRequired) ? dependentRequired : {})].reduce<number>(
    (sum, names) => sum + (Array.isArray(names) ? names.length : 0),
    0,
  );

const weights = new WeakMap<Table, number>();

/**
 * Returns the number of steps of a schema at one value: its own steps, and those of the subschemas that are not inside
 * a loop over items or names.
 */
export const weightOf = (schema: unknown): number => {
  if (!isTable(schema)) return 1;
  const known = weights.get(schema);
  if (known !== undefined) return known;
  let weight = 1 + requiredNames(schema);
  for (const keyword of Object.keys(schema)) {
    if (along.has(keyword)) continue;
    for (const part of heldUnder(schema, keyword)) weight += weightOf(part);
  }
  weights.set(schema, weight);
  return weight;
};

/**
 * Returns the number of steps for each item, or each name, of a value. The schema `false` ends a validation at its
 * first error, so it counts only if all errors are wanted.
 */
const weightAlong = (schema: Table, names: readonly string[], allErrors: boolean): number =>
  names
    .flatMap((keyword) => heldUnder(schema, keyword))
    .filter((part) => allErrors || isTable(part))
    .reduce<number>((sum, part) => sum + weightOf(part), 0);

const loopSteps = 'x-steps-of-parts';
const textSteps = 'x-steps-of-text';

/** Returns the costs of a schema in addition to its weight; a cost that does not occur is 0. */
const costsOf = (
  schema: Table,
  allErrors: boolean,
): { item: number; name: number; text: number } => {
  const counted = countNames.filter((keyword) => Object.hasOwn(schema, keyword)).length;
  return {
    item: weightAlong(schema, alongItems, allErrors),
    name: weightAlong(schema, alongNames, allErrors) + counted * stepsOfListing,
    text: readText.filter((keyword) => Object.hasOwn(schema, keyword)).length,
  };
};

/** Creates a writer that copies schemas so that their validators count steps with `stepKeywords`. */
export const createStepWriter = (allErrors: boolean) => {
  const writeAll = (held: unknown): unknown => {
    if (Array.isArray(held)) return held.map(write);
    if (!isTable(held)) return held;
    return Object.fromEntries(Object.entries(held).map(([name, part]) => [name, write(part)]));
  };
  const write = <Schema>(schema: Schema): Schema => {
    if (!isTable(schema)) return schema;
    const entries = Object.entries(schema).map(([keyword, held]): [string, unknown] => {
      const holds = keywords.get(keyword)?.holds;
      if (holds === 'one') return [keyword, write(held)];
      return [keyword, holds === 'list' || holds === 'map' ? writeAll(held) : held];
    });
    const { item, name, text } = costsOf(schema, allErrors);
    if (item + name > 0) entries.push([loopSteps, { item, name }]);
    if (text > 0) entries.push([textSteps, text]);
    return Object.fromEntries(entries) as Schema;
  };
  return write;
};

type LoopCosts = { item: number; name: number };

/** Returns the keywords that count steps, for a validator of schemas that `createStepWriter` wrote. */
export const stepKeywords = ({ take, takeOfNames }: Steps): CodeKeywordDefinition[] => [
  {
    keyword: loopSteps,
    schemaType: 'object',
    code({ gen, data, schema }) {
      const { item, name } = schema as LoopCosts;
      const count = (value: unknown): void => {
        if (Array.isArray(value)) take(value.length * item);
        else if (name > 0 && isTable(value)) takeOfNames(value, name);
      };
      gen.code(_`${gen.scopeValue('func', { ref: count })}(${data})`);
    },
  },
  {
    keyword: textSteps,
    type: 'string',
    schemaType: 'number',
    before: 'maxLength',
    code({ gen, data, schema }) {
      const count = (text: string): void => take(Number(schema) * stepsOfText(text));
      const counter = gen.scopeValue('func', { ref: count });
      gen.if(_`${data}.length > ${longText}`, () => gen.code(_`${counter}(${data})`));
    },
  },
];
