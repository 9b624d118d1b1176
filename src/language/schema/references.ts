/**
 * `$ref` to a definition. Each definition is compiled once, when a value first reaches it, so that shapes
 * may refer to themselves, and no address is ever resolved.
 */
import { _, type CodeKeywordDefinition, Name, str, type ValidateFunction } from 'ajv/dist/2020.js';
import { definitionName } from './work.ts';

type Call = Pick<ValidateFunction, 'errors'> & ((value: unknown, at: object) => unknown);

/** Variables of the code that the validator generates. */
const vErrors = new Name('vErrors');
const errors = new Name('errors');
const instancePath = new Name('instancePath');

/** `$ref` in place of the validator's own; `validatorOf` compiles a definition, or says what it compiled. */
export const referenceKeyword = (
  validatorOf: (definition: string) => ValidateFunction,
): CodeKeywordDefinition => ({
  keyword: '$ref',
  schemaType: 'string',
  code(cxt) {
    const { gen, data, schema, it } = cxt;
    const name = definitionName(schema);
    if (name === undefined) throw new Error(`the reference ${String(schema)} was never resolved`);
    let validate: ValidateFunction | undefined;
    const call: Call = (value, at) => {
      validate ??= validatorOf(name);
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
