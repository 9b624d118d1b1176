/**
 * Fast pre-check of a value. It returns true if the value plainly fits its schema; otherwise the validator decides.
 *
 * Nearly all values fit. The validator must generate code for a schema, have it compiled, and run it slowly at first.
 * That takes longer than checking all the values of most worlds. So a schema without invalid values never gets a
 * validator.
 *
 * Keywords have the same meaning as in the validator of `shapes.ts`; a schema with a keyword that is missing here is
 * left to the validator. Steps are counted in the same way, and a pre-check may take only few of them.
 */
import { own } from '#domain/json.ts';
import type { JsonSchema } from '../contract.ts';
import { areSameTexts, isTable, type Table } from '../read/values.ts';
import { isDistinct, memberTest } from './equality.ts';
import { assertedFormats } from './formats.ts';
import { definitionName } from './keywords.ts';
import { isMultipleOf } from './multiples.ts';
import { compilePattern, type Pattern, patternSteps } from './patterns.ts';
import { createSteps, OutOfSteps, type Steps, stepsOfText, weightOf } from './steps.ts';

/** Thrown at a keyword that the pre-check does not support. */
class Undecided extends Error {}

type Test = (value: unknown) => boolean;

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number';
const isInteger = (value: unknown): boolean => Number.isInteger(value);

const typeTests: Readonly<Record<string, Test>> = {
  string: isText,
  integer: isInteger,
  number: Number.isFinite,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

const always: Test = () => true;
const never: Test = () => false;

const anyOfTests =
  (tests: readonly Test[]): Test =>
  (value) => {
    for (const test of tests) if (test(value)) return true;
    return false;
  };

const countFitting = (tests: readonly Test[], value: unknown): number => {
  let count = 0;
  for (const test of tests) if (test(value)) count += 1;
  return count;
};

/** Returns the number of characters of a text; a surrogate pair counts as one. */
const charactersOf = (text: string): number => {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
};

const ofTexts =
  (test: (text: string) => boolean): Test =>
  (value) =>
    !isText(value) || test(value);
const ofNumbers =
  (test: (number: number) => boolean): Test =>
  (value) =>
    !isNumber(value) || test(value);
const ofLists =
  (test: (list: readonly unknown[]) => boolean): Test =>
  (value) =>
    !Array.isArray(value) || test(value);

type Context = {
  steps: Steps;
  testOf(schema: unknown): Test;
  definition(name: string): Test;
  pattern(source: string): Pattern;
};

/** Keywords about the members of an object, which are tested in one pass. */
const memberKeywords = ['properties', 'required', 'additionalProperties'] as const;

const createMembersTest = (schema: Table, { steps, testOf }: Context): Test => {
  const declared = isTable(schema.properties) ? Object.entries(schema.properties) : [];
  const tests = new Map(declared.map(([name, part]) => [name, testOf(part)]));
  const rest =
    schema.additionalProperties === undefined ? always : testOf(schema.additionalProperties);
  const required = Array.isArray(schema.required) ? (schema.required as string[]) : [];
  const weightOfName = 1 + (rest === always ? 0 : weightOf(schema.additionalProperties));
  /**
   * Names of the last value that had all required members, with the tests of these members. Most values have the same
   * names.
   */
  let lastNames: readonly string[] = [];
  let lastTests: Test[] | undefined;
  const testsOfNames = (names: readonly string[]): Test[] | undefined => {
    if (lastTests !== undefined && areSameTexts(names, lastNames)) return lastTests;
    const found = new Set(names);
    if (!required.every((name) => found.has(name))) return undefined;
    lastNames = names;
    lastTests = names.map((name) => tests.get(name) ?? rest);
    return lastTests;
  };
  return (value) => {
    if (!isTable(value)) return typeof value !== 'object' || value === null || Array.isArray(value);
    const names = Object.keys(value);
    steps.take(names.length * weightOfName);
    const ofNames = testsOfNames(names);
    if (ofNames === undefined) return false;
    for (let index = 0; index < names.length; index += 1) {
      if (!(ofNames[index] as Test)(value[names[index] as string])) return false;
    }
    return true;
  };
};

const createPatternTest = (source: string, { steps, pattern }: Context): Test =>
  ofTexts((text) => {
    const compiled = pattern(source);
    steps.take(patternSteps(compiled, text));
    return compiled.test(text);
  });

type Maker = (held: unknown, schema: Table, context: Context) => Test;

const parts = (held: unknown, { testOf }: Context): Test[] =>
  (held as readonly unknown[]).map(testOf);

/** Functions that build the test of a keyword, except for keywords of members and annotations. */
const makers: Readonly<Record<string, Maker>> = {
  $ref: (held, _, { definition }) => {
    const name = definitionName(held);
    if (name === undefined) throw new Undecided();
    return definition(name);
  },
  type: (held) =>
    anyOfTests((Array.isArray(held) ? held : [held]).map((name) => own(typeTests, name) as Test)),
  enum: (held, _, { steps }) => memberTest(held as unknown[], steps),
  const: (held, _, { steps }) => memberTest([held], steps),
  multipleOf: (held) => ofNumbers((n) => Number.isFinite(n) && isMultipleOf(n, held as number)),
  maximum: (held) => ofNumbers((n) => n <= (held as number)),
  exclusiveMaximum: (held) => ofNumbers((n) => n < (held as number)),
  minimum: (held) => ofNumbers((n) => n >= (held as number)),
  exclusiveMinimum: (held) => ofNumbers((n) => n > (held as number)),
  maxLength: (held, _, { steps }) =>
    ofTexts((text) => {
      steps.take(stepsOfText(text));
      return text.length <= (held as number) || charactersOf(text) <= (held as number);
    }),
  minLength: (held, _, { steps }) =>
    ofTexts((text) => {
      steps.take(stepsOfText(text));
      return text.length >= 2 * (held as number) || charactersOf(text) >= (held as number);
    }),
  pattern: (held, _, context) => createPatternTest(held as string, context),
  format: (held, _, { steps }) => {
    const test = own(assertedFormats, held as string) as ((text: string) => boolean) | undefined;
    if (test === undefined) return always;
    return ofTexts((text) => {
      steps.take(stepsOfText(text));
      return test(text);
    });
  },
  maxItems: (held) => ofLists((list) => list.length <= (held as number)),
  minItems: (held) => ofLists((list) => list.length >= (held as number)),
  uniqueItems: (held, _, { steps }) =>
    held === true ? ofLists((list) => isDistinct(list, steps)) : always,
  items: (held, { prefixItems }, { steps, testOf }) => {
    if (prefixItems !== undefined) throw new Undecided();
    const test = testOf(held);
    const weight = weightOf(held);
    return ofLists((list) => {
      steps.take(list.length * weight);
      return list.every(test);
    });
  },
  allOf: (held, _, context) => {
    const tests = parts(held, context);
    return (value) => tests.every((test) => test(value));
  },
  anyOf: (held, _, context) => anyOfTests(parts(held, context)),
  oneOf: (held, _, context) => {
    const tests = parts(held, context);
    return (value) => countFitting(tests, value) === 1;
  },
  not: (held, _, { testOf }) => {
    const test = testOf(held);
    return (value) => !test(value);
  },
};

/** Annotations, which do not restrict values. */
const notes = [
  '$comment title description default examples deprecated readOnly writeOnly',
  'contentEncoding contentMediaType',
].flatMap((words) => words.split(' '));

const ignored: ReadonlySet<string> = new Set([...notes, ...memberKeywords]);

const testsOf = (schema: Table, context: Context): Test[] => {
  const tests = Object.entries(schema)
    .filter(([keyword]) => !ignored.has(keyword))
    .map(([keyword, held]) => {
      const make = own(makers, keyword) as Maker | undefined;
      if (make === undefined) throw new Undecided();
      return make(held, schema, context);
    });
  const hasMembers = memberKeywords.some((keyword) => Object.hasOwn(schema, keyword));
  return hasMembers ? [...tests, createMembersTest(schema, context)] : tests;
};

/** Creates pre-checks for schemas that share definitions. */
export const createFirstLook = (definitions: Readonly<Record<string, JsonSchema>>) => {
  const steps = createSteps();
  const known = new Map<string, Test>();
  const patterns = new Map<string, Pattern>();

  const testOf = (schema: unknown): Test => {
    if (!isTable(schema)) return schema === false ? never : always;
    const tests = testsOf(schema, context);
    const [first = always, second = always] = tests;
    if (tests.length <= 1) return first;
    if (tests.length === 2) return (value) => first(value) && second(value);
    return (value) => {
      for (const test of tests) if (!test(value)) return false;
      return true;
    };
  };

  /**
   * Returns the test of a definition. The definition may refer to itself, so it is read when the first value needs it.
   */
  const definition = (name: string): Test => {
    const schema = own(definitions, name) ?? {};
    let test: Test | undefined;
    let weight = 0;
    return (value) => {
      if (test === undefined) {
        test = known.get(name) ?? testOf(schema);
        known.set(name, test);
        weight = weightOf(schema);
      }
      steps.take(weight);
      return test(value);
    };
  };

  const pattern = (source: string): Pattern => {
    const compiled = patterns.get(source) ?? compilePattern(source);
    patterns.set(source, compiled);
    return compiled;
  };

  const context: Context = { steps, testOf, definition, pattern };

  /**
   * Creates the pre-check of a schema. It returns true if a value fits within `most` steps; for a schema that it does
   * not support, it always returns false.
   */
  const createLook = (schema: JsonSchema): ((value: unknown, most: number) => boolean) => {
    let test: Test | undefined;
    let isReadable = true;
    return (value, most) => {
      if (!isReadable || most === 0) return false;
      steps.begin(most);
      try {
        steps.take(weightOf(schema));
        test ??= testOf(schema);
        return test(value);
      } catch (error) {
        if (error instanceof Undecided) isReadable = false;
        else if (!(error instanceof OutOfSteps)) throw error;
        return false;
      }
    };
  };
  return createLook;
};
