/**
 * Keyword `$ref`, which refers to a definition. Each definition has a validator of its own, outside the schemas that
 * refer to it, so that schemas may be recursive. The validator is compiled only when a value needs it: compiling takes
 * longer than validating, and most values have few of their optional parts. No URL is ever resolved.
 *
 * Only a reference can lead a schema back to itself. So the verdict of a definition on an object or a list is cached
 * during a validation, however many alternatives need it. Without the cache, the work and the list of errors would
 * double with each level of nesting.
 */
import {
  _,
  type CodeKeywordDefinition,
  type ErrorObject,
  Name,
  str,
  type ValidateFunction,
} from 'ajv/dist/2020.js';
import { definitionName } from './keywords.ts';
import type { Steps } from './steps.ts';

type Call = Pick<ValidateFunction, 'errors'> & ((value: unknown, at: object) => unknown);

/** Names of variables in the code that the validator generates. */
const vErrors = new Name('vErrors');
const errors = new Name('errors');
const instancePath = new Name('instancePath');

export type Definitions = {
  /** Compiles the validator of a definition, when the first value needs it. */
  compile(name: string): ValidateFunction;
  /** Returns the number of steps that entering a definition takes. */
  weightOf(name: string): number;
  /** Returns those errors of a definition that are kept. */
  summarize(errors: readonly ErrorObject[]): ErrorObject[];
  steps: Steps;
};

/**
 * Verdict of a definition on a value: null if the value is valid, or else the errors. A value occurs at one place only.
 */
type Verdict = ErrorObject[] | null;

type References = {
  keyword: CodeKeywordDefinition;
  /** Clears the cached verdicts; must be called before each validation. */
  forget(): void;
};

const isPart = (value: unknown): value is object => typeof value === 'object' && value !== null;

const join = (before: ErrorObject[] | null, found: readonly ErrorObject[]): ErrorObject[] => {
  const all = before ?? [];
  for (const error of found) all.push(error);
  return all;
};

/** Creates the keyword `$ref`, which replaces that of the validator. */
export const createReferences = (definitions: Definitions): References => {
  const { compile, weightOf, summarize, steps } = definitions;
  const compiled = new Map<string, ValidateFunction>();
  let verdicts = new Map<string, Map<object, Verdict>>();

  const verdictsOn = (name: string): Map<object, Verdict> => {
    const known = verdicts.get(name) ?? new Map<object, Verdict>();
    verdicts.set(name, known);
    return known;
  };

  const validatorOf = (name: string): ValidateFunction => {
    const validate = compiled.get(name) ?? compile(name);
    compiled.set(name, validate);
    return validate;
  };

  const createCall = (name: string): Call => {
    let validate: ValidateFunction | undefined;
    let weight = 0;
    const judge = (value: unknown, at: object): Verdict => {
      if (validate === undefined) {
        validate = validatorOf(name);
        weight = weightOf(name);
      }
      steps.take(weight);
      const isValid = validate(value, at as Parameters<ValidateFunction>[1]);
      return isValid ? null : summarize(validate.errors ?? []);
    };
    const judgeOnce = (value: object, at: object): Verdict => {
      steps.take(1);
      const ofDefinition = verdictsOn(name);
      const known = ofDefinition.get(value);
      if (known !== undefined) return known;
      const verdict = judge(value, at);
      ofDefinition.set(value, verdict);
      return verdict;
    };
    const call: Call = (value, at) => {
      const verdict = isPart(value) ? judgeOnce(value, at) : judge(value, at);
      call.errors = verdict;
      return verdict === null;
    };
    return call;
  };

  const keyword: CodeKeywordDefinition = {
    keyword: '$ref',
    schemaType: 'string',
    code(cxt) {
      const { gen, data, schema, it } = cxt;
      const name = definitionName(schema);
      if (name === undefined) throw new Error(`the reference ${String(schema)} was never resolved`);
      const target = gen.scopeValue('validate', { ref: createCall(name) });
      const place = str`${instancePath}${it.errorPath}`;
      cxt.result(_`${target}(${data}, {instancePath: ${place}})`, undefined, () => {
        const joined = gen.scopeValue('func', { ref: join });
        gen.assign(vErrors, _`${joined}(${vErrors}, ${target}.errors)`);
        gen.assign(errors, _`${vErrors}.length`);
      });
    },
  };
  const forget = (): void => {
    if (verdicts.size > 0) verdicts = new Map();
  };
  return { keyword, forget };
};
