/**
 * Keywords `required`, `dependentRequired` and `propertyNames`, about the keys of an object. A required key must be an
 * own key of the value, whatever its name, even the empty name or a name that every object inherits.
 */
import { _, type CodeKeywordDefinition, type KeywordCxt } from 'ajv/dist/2020.js';
import { isTable } from '../read/values.ts';

/** A missing name, and the name that requires it; '' if `required` does. */
type Missing = { property: string; missing: string };

const missingFrom = (value: object, names: readonly string[], property = ''): Missing[] =>
  names.filter((name) => !Object.hasOwn(value, name)).map((missing) => ({ property, missing }));

/** Generates one error for each missing name. */
const reportMissing = (cxt: KeywordCxt, find: (value: object) => Missing[]): void => {
  const { gen, data, it } = cxt;
  const list = gen.const('missing', _`${gen.scopeValue('func', { ref: find })}(${data})`);
  gen.forOf('name', list, (name) => {
    cxt.setParams({ missing: _`${name}.missing`, property: _`${name}.property` });
    cxt.error();
    if (!it.allErrors) gen.break();
  });
  cxt.ok(_`${list}.length === 0`);
};

const error: CodeKeywordDefinition['error'] = {
  message: 'is missing a property',
  params: ({ params }) => _`{missingProperty: ${params.missing}, property: ${params.property}}`,
};

/** The three keywords, which replace those of the validator. */
export const presenceKeywords: readonly CodeKeywordDefinition[] = [
  {
    keyword: 'required',
    type: 'object',
    schemaType: 'array',
    error,
    code(cxt) {
      const names = cxt.schema as string[];
      if (names.length > 0) reportMissing(cxt, (value) => missingFrom(value, names));
    },
  },
  {
    keyword: 'dependentRequired',
    type: 'object',
    schemaType: 'object',
    error,
    code(cxt) {
      const entries = isTable(cxt.schema) ? Object.entries(cxt.schema) : [];
      reportMissing(cxt, (value) =>
        entries
          .filter(([property]) => Object.hasOwn(value, property))
          .flatMap(([property, names]) => missingFrom(value, names as string[], property)),
      );
    },
  },
  {
    keyword: 'propertyNames',
    type: 'object',
    schemaType: ['boolean', 'object'],
    error: {
      message: 'has a name that is not allowed',
      params: ({ params }) => _`{propertyName: ${params.propertyName}}`,
    },
    code(cxt) {
      const { gen, data, it } = cxt;
      const valid = gen.let('valid', true);
      gen.forIn('key', data, (propertyName) => {
        const fits = gen.name('fits');
        cxt.setParams({ propertyName });
        cxt.subschema(
          {
            keyword: 'propertyNames',
            data: propertyName,
            dataTypes: ['string'],
            propertyName,
            compositeRule: true,
          },
          fits,
        );
        gen.if(_`!${fits}`, () => {
          cxt.error(true);
          gen.assign(valid, false);
          if (!it.allErrors) gen.break();
        });
      });
      cxt.ok(valid);
    },
  },
];
