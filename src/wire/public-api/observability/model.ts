/** Request and answer schemas of models with their prices. */
import { nullable, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { cursorParams } from '../evaluation/dataset.ts';
import { pageOf } from '../lists.ts';
import { LongId } from './trace.ts';

export const modelUnits = [
  'TOKENS',
  'CHARACTERS',
  'MILLISECONDS',
  'SECONDS',
  'REQUESTS',
  'IMAGES',
] as const;

const Dollars = nullable(Type.Number());
const Json = Type.Unknown({ description: 'any JSON' });
const Prices = Type.Record(Type.String(), Type.Number(), {
  description: 'prices in dollars per unit, by the name of the unit',
});

const usageOperators = ['gt', 'gte', 'lt', 'lte', 'eq', 'neq'] as const;
const sources = ['model_parameters', 'metadata'] as const;

const Condition = Type.Union([
  Type.Object({
    usageDetailPattern: Type.String(),
    operator: oneOf(usageOperators),
    value: Type.Number(),
    caseSensitive: Type.Boolean(),
  }),
  Type.Object({
    source: oneOf(sources),
    key: Type.String(),
    operator: oneOf(['in']),
    values: Type.Array(Type.String()),
  }),
]);

const Tier = Type.Object({
  id: Type.String(),
  name: Type.String(),
  isDefault: Type.Boolean(),
  priority: Type.Integer(),
  conditions: Type.Array(Condition),
  prices: Prices,
});

export const ModelView = Type.Object({
  id: Type.String(),
  modelName: Type.String(),
  matchPattern: Type.String(),
  startDate: nullable(Timestamp),
  inputPrice: Dollars,
  outputPrice: Dollars,
  totalPrice: Dollars,
  unit: nullable(oneOf(modelUnits)),
  tokenizerId: nullable(Type.String()),
  tokenizerConfig: Json,
  isLangfuseManaged: Type.Boolean({ description: 'whether the model is built in' }),
  createdAt: Timestamp,
  prices: Type.Record(Type.String(), Type.Object({ price: Type.Number() }), {
    description: 'prices of the default tier',
  }),
  pricingTiers: Type.Array(Tier),
});
export type ModelView = Static<typeof ModelView>;

/** A model as the client sends it. The code that reads the members validates them; unknown ones are ignored. */
export const ModelBody = Type.Object({
  modelName: Type.String({ maxLength: 10_000 }),
  matchPattern: Type.String({
    maxLength: 10_000,
    description:
      'regular expression (RE2), which is searched for anywhere in the model name of an observation',
  }),
  startDate: Type.Optional(
    Type.String({ maxLength: 64, description: 'time or date from which the model applies' }),
  ),
  unit: Type.Optional(oneOf(modelUnits)),
  tokenizerId: Type.Optional(Type.String({ maxLength: 10_000 })),
  tokenizerConfig: Type.Optional(Json),
  inputPrice: Type.Optional(Type.Number({ minimum: 0 })),
  outputPrice: Type.Optional(Type.Number({ minimum: 0 })),
  totalPrice: Type.Optional(
    Type.Number({
      minimum: 0,
      description: 'price of every unit, in place of the prices of input and output',
    }),
  ),
  pricingTiers: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String({ maxLength: 10_000 }),
        isDefault: Type.Boolean({
          description: 'price tiers, exactly one of which is the default',
        }),
        priority: Type.Integer({ minimum: 0, maximum: 999 }),
        conditions: Type.Optional(
          Type.Array(
            Type.Object({
              usageDetailPattern: Type.Optional(Type.String({ maxLength: 10_000 })),
              value: Type.Optional(Type.Number()),
              caseSensitive: Type.Optional(Type.Boolean()),
              source: Type.Optional(oneOf(sources)),
              key: Type.Optional(
                Type.String({
                  maxLength: 10_000,
                  description:
                    'with `source`: name of its member, whose text must be one of `values`',
                }),
              ),
              values: Type.Optional(
                Type.Array(Type.String({ maxLength: 10_000 }), { maxItems: 100 }),
              ),
              operator: oneOf([...usageOperators, 'in']),
            }),
            { maxItems: 10 },
          ),
        ),
        prices: Type.Record(Type.String(), Type.Number({ minimum: 0 }), { maxProperties: 100 }),
      }),
      { maxItems: 20, description: 'price tiers, in place of the prices above' },
    ),
  ),
});
export type ModelBody = Static<typeof ModelBody>;

export const ModelParams = Type.Object({ modelId: LongId });
export const ModelQuery = Type.Object(cursorParams);
export const ModelList = pageOf(ModelView);
