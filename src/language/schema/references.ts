/**
 * `$ref` to a definition. Each definition is compiled once, beside the schemas that refer to it and not
 * inside them, so that shapes may refer to themselves; no address is ever resolved.
 *
 * Nothing but a reference can lead a schema back to itself. So what a definition says of an object or a
 * list is found out once in a check, however many alternatives ask: asking again on every level of a
 * value that nests would double the work, and the list of errors, with each.
 */
import {
  _,
  type CodeKeywordDefinition,
  type ErrorObject,
  Name,
  str,
  type ValidateFunction,
} from 'ajv/dist/2020.js';
import type { Steps } from './steps.ts';
import { definitionName } from './work.ts';

type Call = Pick<ValidateFunction, 'errors'> & ((value: unknown, at: object) => unknown);

/** Variables of the code that the validator generates. */
const vErrors = new Name('vErrors');
const errors = new Name('errors');
const instancePath = new Name('instancePath');

export type Definitions = {
  /** Notes that a definition is to be compiled before the first value is checked. */
  want(name: string): void;
  validatorOf(name: string): ValidateFunction | undefined;
  /** The steps that it takes to enter a definition. */
  weightOf(name: string): number;
  /** What is kept of the errors that a definition found. */
  summarize(errors: readonly ErrorObject[]): ErrorObject[];
  steps: Steps;
};

/** What a definition said of a value: nothing, or its errors. A value stands at one place. */
type Verdict = ErrorObject[] | null;

export type References = {
  keyword: CodeKeywordDefinition;
  /** Forgets what was found out of values; to be called before each check. */
  forget(): void;
};

const isPart = (value: unknown): value is object => typeof value === 'object' && value !== null;

const join = (before: ErrorObject[] | null, found: readonly ErrorObject[]): ErrorObject[] => {
  const all = before ?? [];
  for (const error of found) all.push(error);
  return all;
};

/** `$ref` in place of the validator's own. */
export const createReferences = (definitions: Definitions): References => {
  const { want, validatorOf, weightOf, summarize, steps } = definitions;
  let verdicts = new Map<string, Map<object, Verdict>>();

  const verdictsOn = (name: string): Map<object, Verdict> => {
    const known = verdicts.get(name) ?? new Map<object, Verdict>();
    verdicts.set(name, known);
    return known;
  };

  const createCall = (name: string): Call => {
    let validate: ValidateFunction | undefined;
    const judge = (value: unknown, at: object): Verdict => {
      validate ??= validatorOf(name);
      if (validate === undefined) throw new Error(`the definition ${name} was never compiled`);
      steps.take(weightOf(name));
      const isValid = validate(value, at as Parameters<ValidateFunction>[1]);
      return isValid ? null : summarize(validate.errors ?? []);
    };
    const judgeOnce = (value: object, at: object): Verdict => {
      steps.take(1);
      const known = verdictsOn(name).get(value);
      if (known !== undefined) return known;
      const verdict = judge(value, at);
      verdictsOn(name).set(value, verdict);
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
      want(name);
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
