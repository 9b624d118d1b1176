/**
 * Validators of a family of schemas that share definitions. They are compiled when first used, all
 * inside one document, so that each definition is compiled once however many schemas refer to it.
 *
 * Schemas and values come from users. A validator therefore stops at the first error; only a small
 * value that failed is looked at again for all its errors, which keeps memory bounded.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { JsonSchema } from '../contract.ts';
import { languageLimits } from '../limits.ts';
import { isDeeperThan } from '../read/values.ts';
import { assertedFormats } from './formats.ts';
import { compilePattern } from './patterns.ts';
import { describeErrors, type ValueProblem } from './value-problem.ts';

/** What is wrong with a value; empty when it fits. */
export type CheckValue = (value: unknown) => ValueProblem[];

const documentId = 'urn:svc:shapes';
const maxProblems = 20;
const maxDetailedChars = 64 * 1024;

const isSmall = (value: unknown): boolean =>
  (JSON.stringify(value)?.length ?? 0) <= maxDetailedChars;

/** The validator's own engine for regular expressions; it asks for one by calling this. */
const linearRegExp = Object.assign((source: string) => compilePattern(source), { code: 'unused' });

const tooDeep: ValueProblem = {
  pointer: '',
  detail: `nests deeper than ${languageLimits.depth} levels`,
};

/** Finds the validator of a schema by its position in the family. */
const createCompiler = (document: JsonSchema, allErrors: boolean) => {
  const ajv = new Ajv2020({
    allErrors,
    verbose: true,
    strict: false,
    logger: false,
    meta: false,
    validateSchema: false,
    formats: assertedFormats,
    // Compiling is what a session waits for; the engine optimises what runs often by itself.
    code: { regExp: linearRegExp, optimize: false },
  });
  ajv.addSchema(document);
  return (index: number): ValidateFunction => {
    const validate = ajv.getSchema(`${documentId}#/shapes/${index}`);
    if (validate === undefined) throw new Error(`shape ${index} is not part of the document`);
    return validate;
  };
};

/** A check for each schema, by its name. Throws on first use of a schema that is not valid. */
export const createShapes = (
  definitions: Readonly<Record<string, JsonSchema>>,
  schemas: ReadonlyMap<string, JsonSchema>,
): ReadonlyMap<string, CheckValue> => {
  const document = { $id: documentId, $defs: definitions, shapes: [...schemas.values()] };
  let compileQuick: ReturnType<typeof createCompiler> | undefined;
  let compileDetailed: ReturnType<typeof createCompiler> | undefined;
  const createCheck = (index: number): CheckValue => {
    let quick: ValidateFunction | undefined;
    return (value) => {
      if (isDeeperThan(value, languageLimits.depth)) return [tooDeep];
      compileQuick ??= createCompiler(document, false);
      quick ??= compileQuick(index);
      if (quick(value)) return [];
      if (!isSmall(value)) return describeErrors(quick.errors ?? [], maxProblems);
      compileDetailed ??= createCompiler(document, true);
      const detailed = compileDetailed(index);
      detailed(value);
      return describeErrors(detailed.errors ?? [], maxProblems);
    };
  };
  return new Map([...schemas.keys()].map((name, index) => [name, createCheck(index)]));
};
