/**
 * Validators of schemas that share definitions. They are compiled on first use. Each definition is compiled once,
 * however many schemas refer to it. A value that passes the fast pre-check needs no validator (`first-look.ts`).
 *
 * Schemas and values come from users. So a validator stops at the first error. Only a small invalid value is validated
 * again for all its errors, which bounds memory. Every validation has a limit of steps. If the first validation exceeds
 * its limit, the value is refused. If the validation for all errors exceeds its limit, only the first error is
 * reported.
 */

import {
  Ajv2020,
  type CodeKeywordDefinition,
  type ErrorObject,
  type ValidateFunction,
} from 'ajv/dist/2020.js';
import { own } from '#domain/json.ts';
import type { JsonSchema } from '../contract.ts';
import { languageLimits } from '../limits.ts';
import { isDeeperThan, type Table } from '../read/values.ts';
import { equalityKeywords } from './equality.ts';
import { createFirstLook } from './first-look.ts';
import { assertedFormats } from './formats.ts';
import { listKeywords } from './lists.ts';
import { multipleOfKeyword } from './multiples.ts';
import { compilePattern, type Pattern, patternSteps } from './patterns.ts';
import { presenceKeywords } from './presence.ts';
import { createReferences } from './references.ts';
import {
  createSteps,
  createStepWriter,
  OutOfSteps,
  type Steps,
  stepKeywords,
  weightOf,
} from './steps.ts';
import { unevaluatedKeywords } from './unevaluated.ts';
import { describeErrors, mainErrors, type ValueProblem } from './value-problem.ts';

/** Returns the problems of a value; empty if the value is valid. */
export type CheckValue = (value: unknown) => ValueProblem[];

const maxProblems = 20;
const maxDetailedChars = 64 * 1024;

const isSmall = (value: unknown): boolean =>
  (JSON.stringify(value)?.length ?? 0) <= maxDetailedChars;

const tooDeep: ValueProblem = {
  pointer: '',
  detail: `nests deeper than ${languageLimits.depth} levels`,
};

/** Problem of a value whose validation overflowed the stack; the limits on schemas and values make this unlikely. */
const tooInvolved: ValueProblem = {
  pointer: '',
  detail: 'nests too deeply to be validated against its schema',
};

/** Returns the problem of a value whose validation takes too many steps. */
const tooMuch = (steps: number): ValueProblem => ({
  pointer: '',
  detail: `takes more than ${steps} steps to validate; make the value smaller, or give its schema fewer alternatives and shorter patterns`,
});

/** Creates the regular expression engine of the validator, which compiles each pattern once. */
const createPatterns = ({ take }: Steps) => {
  const patterns = new Map<string, Pattern>();
  return (source: string): Pattern => {
    const known = patterns.get(source);
    if (known !== undefined) return known;
    const compiled = compilePattern(source);
    const test = (text: string): boolean => {
      take(patternSteps(compiled, text));
      return compiled.test(text);
    };
    const pattern = { ...compiled, test };
    patterns.set(source, pattern);
    return pattern;
  };
};

/** Creates a cache of answers for objects and lists; `forget` clears the cache. */
const createMemory = () => {
  let answers = new Map<Table, WeakMap<object, boolean>>();
  return {
    forget(): void {
      if (answers.size > 0) answers = new Map();
    },
    recall(schema: Table, value: object, find: () => boolean): boolean {
      const ofSchema = answers.get(schema) ?? new WeakMap<object, boolean>();
      answers.set(schema, ofSchema);
      const known = ofSchema.get(value);
      if (known !== undefined) return known;
      const answer = find();
      ofSchema.set(value, answer);
      return answer;
    },
  };
};

/** Creates an Ajv validator for the dialect of worlds, with some keywords replaced by those of this folder. */
const createValidator = (
  allErrors: boolean,
  pattern: (source: string) => Pattern,
  keywords: readonly CodeKeywordDefinition[],
): Ajv2020 => {
  const ajv = new Ajv2020({
    allErrors,
    verbose: true,
    strict: false,
    logger: false,
    meta: false,
    validateSchema: false,
    // An inherited key does not count; the value itself must have it.
    ownProperties: true,
    formats: assertedFormats,
    // A session waits for the compilation; the JavaScript engine optimises frequently run code by itself.
    code: { regExp: Object.assign(pattern, { code: 'unused' }), optimize: false },
  });
  ajv.opts.unevaluated = false;
  for (const keyword of keywords) ajv.removeKeyword(String(keyword.keyword)).addKeyword(keyword);
  return ajv;
};

type Compiler = {
  /** Returns the schema in the form to be compiled. */
  write(schema: JsonSchema): JsonSchema;
  compile(schema: JsonSchema): ValidateFunction;
  /** Starts a validation that may take `most` steps; must be called before each validation. */
  begin(most: number): void;
};

/** Returns the number of a definition's errors that a referring schema keeps. */
const keptErrors = (allErrors: boolean): number => (allErrors ? maxProblems : 1);

const createCompiler = (
  written: Readonly<Record<string, JsonSchema>>,
  allErrors: boolean,
): Compiler => {
  const steps = createSteps();
  const write = createStepWriter(allErrors);
  const pattern = createPatterns(steps);
  const memory = createMemory();
  const definitions: Record<string, JsonSchema> = Object.fromEntries(
    Object.entries(written).map(([name, schema]) => [name, write(schema)]),
  );
  const fits = (schema: Table, value: unknown): boolean => {
    const isValid = (): boolean => {
      steps.take(weightOf(schema));
      return compile(schema)(value);
    };
    return typeof value === 'object' && value !== null
      ? memory.recall(schema, value, isValid)
      : isValid();
  };
  const definition = (name: string): JsonSchema => (own(definitions, name) ?? {}) as JsonSchema;
  const references = createReferences({
    compile: (name) => compile(definition(name)),
    weightOf: (name) => weightOf(definition(name)),
    summarize: (errors) => mainErrors(errors, keptErrors(allErrors)),
    steps,
  });
  const compile = (schema: JsonSchema): ValidateFunction => ajv.compile(schema);
  const ajv = createValidator(allErrors, pattern, [
    references.keyword,
    ...stepKeywords(steps),
    ...equalityKeywords(steps),
    ...presenceKeywords,
    multipleOfKeyword,
    ...listKeywords,
    ...unevaluatedKeywords({ definitions, fits, pattern, steps }),
  ]);
  const begin = (most: number): void => {
    steps.begin(most);
    memory.forget();
    references.forget();
  };
  return { write, compile, begin };
};

/** Maximum number of steps of the fast pre-check, of the validation, and of the search for all errors. */
export type StepLimits = { look: number; verdict: number; explanation: number };

const usualLimits: StepLimits = {
  look: languageLimits.lookSteps,
  verdict: languageLimits.checkSteps,
  explanation: languageLimits.explanationSteps,
};

/**
 * Creates a check for each schema, by the schema's name. A check throws when it is first used if its schema is invalid.
 */
export const createShapes = (
  definitions: Readonly<Record<string, JsonSchema>>,
  schemas: ReadonlyMap<string, JsonSchema>,
  limits: StepLimits = usualLimits,
): ReadonlyMap<string, CheckValue> => {
  const compilers = new Map<boolean, Compiler>();
  const compiler = (allErrors: boolean): Compiler => {
    const known = compilers.get(allErrors) ?? createCompiler(definitions, allErrors);
    compilers.set(allErrors, known);
    return known;
  };
  const createLook = createFirstLook(definitions);
  const createCheck = (schema: JsonSchema): CheckValue => {
    const plainlyFits = createLook(schema);
    const validators = new Map<boolean, ValidateFunction>();
    const run = (value: unknown, allErrors: boolean): ErrorObject[] => {
      const { write, compile, begin } = compiler(allErrors);
      const validate = validators.get(allErrors) ?? compile(write(schema));
      validators.set(allErrors, validate);
      begin(allErrors ? limits.explanation : limits.verdict);
      return validate(value) ? [] : (validate.errors ?? []);
    };
    /** Returns all errors; or only the first if finding all takes too many steps. */
    const explain = (value: unknown, first: ErrorObject[]): ErrorObject[] => {
      if (!isSmall(value)) return first;
      try {
        return run(value, true);
      } catch (error) {
        if (error instanceof OutOfSteps) return first;
        throw error;
      }
    };
    const check: CheckValue = (value) => {
      if (plainlyFits(value, limits.look)) return [];
      const first = run(value, false);
      return first.length === 0 ? [] : describeErrors(explain(value, first), maxProblems);
    };
    return (value) => {
      if (isDeeperThan(value, languageLimits.depth)) return [tooDeep];
      try {
        return check(value);
      } catch (error) {
        if (error instanceof RangeError) return [tooInvolved];
        if (error instanceof OutOfSteps) return [tooMuch(limits.verdict)];
        throw error;
      }
    };
  };
  return new Map([...schemas].map(([name, schema]) => [name, createCheck(schema)]));
};
