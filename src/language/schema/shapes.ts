/**
 * Validators of a family of schemas that share definitions. They are compiled when first used, and each
 * definition once, however many schemas refer to it.
 *
 * Schemas and values come from users. A validator therefore stops at the first error; only a small
 * value that failed is looked at again for all its errors, which keeps memory bounded.
 */
import {
  Ajv2020,
  type CodeKeywordDefinition,
  type ErrorObject,
  type ValidateFunction,
} from 'ajv/dist/2020.js';
import type { JsonSchema } from '../contract.ts';
import { languageLimits } from '../limits.ts';
import { isDeeperThan, own, type Table } from '../read/values.ts';
import { equalityKeywords } from './equality.ts';
import { assertedFormats } from './formats.ts';
import { listKeywords } from './lists.ts';
import { multipleOfKeyword } from './multiples.ts';
import { compilePattern, type Pattern } from './patterns.ts';
import { presenceKeywords } from './presence.ts';
import { referenceKeyword } from './references.ts';
import { unevaluatedKeywords } from './unevaluated.ts';
import { describeErrors, type ValueProblem } from './value-problem.ts';

/** What is wrong with a value; empty when it fits. */
export type CheckValue = (value: unknown) => ValueProblem[];

const maxProblems = 20;
const maxDetailedChars = 64 * 1024;

const isSmall = (value: unknown): boolean =>
  (JSON.stringify(value)?.length ?? 0) <= maxDetailedChars;

const tooDeep: ValueProblem = {
  pointer: '',
  detail: `nests deeper than ${languageLimits.depth} levels`,
};

/** What a value gets on which the stack ran out; the limits on schemas and values make it unlikely. */
const tooInvolved: ValueProblem = {
  pointer: '',
  detail: 'nests too deeply for its schema to be followed',
};

/** The validator's engine for regular expressions, which compiles each pattern once. */
const createPatterns = () => {
  const patterns = new Map<string, Pattern>();
  return (source: string): Pattern => {
    const pattern = patterns.get(source) ?? compilePattern(source);
    patterns.set(source, pattern);
    return pattern;
  };
};

/** Answers for objects and lists that are kept until `forget`. */
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

/** The validator set up for our dialect, without its own reading of what ours reads otherwise. */
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
    // A key that every object inherits is not there unless the value itself has it.
    ownProperties: true,
    formats: assertedFormats,
    // Compiling is what a session waits for; the engine optimises what runs often by itself.
    code: { regExp: Object.assign(pattern, { code: 'unused' }), optimize: false },
  });
  ajv.opts.unevaluated = false;
  for (const keyword of keywords) ajv.removeKeyword(String(keyword.keyword)).addKeyword(keyword);
  return ajv;
};

type Compiler = {
  compile(schema: JsonSchema): ValidateFunction;
  /** To be called before each check. */
  begin(): void;
};

const createCompiler = (
  definitions: Readonly<Record<string, JsonSchema>>,
  allErrors: boolean,
): Compiler => {
  const pattern = createPatterns();
  const memory = createMemory();
  const fits = (schema: Table, value: unknown): boolean => {
    const isValid = () => compile(schema)(value);
    return typeof value === 'object' && value !== null
      ? memory.recall(schema, value, isValid)
      : isValid();
  };
  /** Definitions that a compiled schema refers to and that are not compiled yet. */
  const wanted = new Set<string>();
  const compiled = new Map<string, ValidateFunction>();
  const references = referenceKeyword({
    want: (name) => compiled.has(name) || wanted.add(name),
    validatorOf: (name) => compiled.get(name),
  });
  const compile = (schema: JsonSchema): ValidateFunction => {
    const validate = ajv.compile(schema);
    for (const name of wanted) compiled.set(name, ajv.compile(own(definitions, name) ?? {}));
    wanted.clear();
    return validate;
  };
  const ajv = createValidator(allErrors, pattern, [
    references,
    ...equalityKeywords,
    ...presenceKeywords,
    multipleOfKeyword,
    ...listKeywords,
    ...unevaluatedKeywords({ definitions, fits, pattern }),
  ]);
  return { compile, begin: memory.forget };
};

/** A check for each schema, by its name. Throws on first use of a schema that is not valid. */
export const createShapes = (
  definitions: Readonly<Record<string, JsonSchema>>,
  schemas: ReadonlyMap<string, JsonSchema>,
): ReadonlyMap<string, CheckValue> => {
  const compilers = new Map<boolean, Compiler>();
  const compiler = (allErrors: boolean): Compiler => {
    const known = compilers.get(allErrors) ?? createCompiler(definitions, allErrors);
    compilers.set(allErrors, known);
    return known;
  };
  const createCheck = (schema: JsonSchema): CheckValue => {
    const validators = new Map<boolean, ValidateFunction>();
    const run = (value: unknown, allErrors: boolean): ErrorObject[] => {
      const { compile, begin } = compiler(allErrors);
      const validate = validators.get(allErrors) ?? compile(schema);
      validators.set(allErrors, validate);
      begin();
      return validate(value) ? [] : (validate.errors ?? []);
    };
    const check: CheckValue = (value) => {
      const first = run(value, false);
      if (first.length === 0) return [];
      return describeErrors(isSmall(value) ? run(value, true) : first, maxProblems);
    };
    return (value) => {
      if (isDeeperThan(value, languageLimits.depth)) return [tooDeep];
      try {
        return check(value);
      } catch (error) {
        if (error instanceof RangeError) return [tooInvolved];
        throw error;
      }
    };
  };
  return new Map([...schemas].map(([name, schema]) => [name, createCheck(schema)]));
};
