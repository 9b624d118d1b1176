/**
 * `$ref` to a definition. Each definition is compiled once, beside the schemas that refer to it and not
 * inside them, so that shapes may refer to themselves; no address is ever resolved.
 */
import { _, type CodeKeywordDefinition, Name, str, type ValidateFunction } from 'ajv/dist/2020.js';
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
};

/** `$ref` in place of the validator's own. */
export const referenceKeyword = ({ want, validatorOf }: Definitions): CodeKeywordDefinition => ({
  keyword: '$ref',
  schemaType: 'string',
  code(cxt) {
    const { gen, data, schema, it } = cxt;
    const name = definitionName(schema);
    if (name === undefined) throw new Error(`the reference ${String(schema)} was never resolved`);
    want(name);
    let validate: ValidateFunction | undefined;
    const call: Call = (value, at) => {
      validate ??= validatorOf(name);
      if (validate === undefined) throw new Error(`the definition ${name} was never compiled`);
      const isValid = validate(value, at as Parameters<ValidateFunction>[1]);
      call.errors = validate.errors ?? null;
      return isValid;
    };
    const target = gen.scopeValue('validate', { ref: call });
    const place = str`${instancePath}${it.errorPath}`;
    cxt.result(_`${target}(${data}, {instancePath: ${place}})`, undefined, () => {
      const found = _`${target}.errors`;
      gen.assign(vErrors, _`${vErrors} === null ? ${found} : ${vErrors}.concat(${found})`);
      gen.assign(errors, _`${vErrors}.length`);
    });
  },
});
