/**
 * Keywords `prefixItems`, and `contains` with `minContains` and `maxContains`. The validator's own versions skip the
 * keywords after them if a list is shorter than they expect.
 */
import { _, type CodeKeywordDefinition } from 'ajv/dist/2020.js';

const prefixItems: CodeKeywordDefinition = {
  keyword: 'prefixItems',
  type: 'array',
  schemaType: 'array',
  before: 'items',
  code(cxt) {
    const { gen, data } = cxt;
    const valid = gen.let('valid', true);
    for (const index of (cxt.schema as unknown[]).keys()) {
      gen.if(_`${valid} && ${data}.length > ${index}`, () => {
        const fits = gen.name('fits');
        cxt.subschema({ keyword: 'prefixItems', schemaProp: index, dataProp: index }, fits);
        if (!cxt.it.allErrors) gen.assign(valid, fits);
      });
    }
    cxt.ok(valid);
  },
};

const contains: CodeKeywordDefinition = {
  keyword: 'contains',
  type: 'array',
  schemaType: ['boolean', 'object'],
  trackErrors: true,
  error: {
    message: ({ params: { min, max } }) =>
      max === undefined
        ? `must have at least ${min} items that fit "contains"`
        : `must have ${min} to ${max} items that fit "contains"`,
  },
  code(cxt) {
    const { gen, data, parentSchema } = cxt;
    const min = Number(parentSchema.minContains ?? 1);
    const max = parentSchema.maxContains as number | undefined;
    cxt.setParams({ min, max });
    const count = gen.let('count', 0);
    gen.forRange('i', 0, _`${data}.length`, (i) => {
      const fits = gen.name('fits');
      cxt.subschema(
        { keyword: 'contains', dataProp: i, dataPropType: 0, compositeRule: true },
        fits,
      );
      gen.if(fits, () => gen.code(_`${count}++`));
    });
    const isEnough = max === undefined ? _`` : _` && ${count} <= ${max}`;
    cxt.result(_`${count} >= ${min}${isEnough}`, () => cxt.reset());
  },
};

/** Keywords `prefixItems` and `contains`, which replace those of the validator. */
export const listKeywords: readonly CodeKeywordDefinition[] = [prefixItems, contains];
