/** Creates, lists and deletes models. Lists contain the built-in models in addition to those of the project. */
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import { limits } from '#domain/limits.ts';
import { type BuiltInModel, builtInModels, pricesAsOf } from '#observability/built-in-models.ts';
import type { PricingTier } from '#observability/pricing.ts';
import type { ModelContent } from '#observability/read-model.ts';
import type { ModelView } from '#wire/public-api/observability/model.ts';
import { jsonText } from '../../base/json/json-text.ts';
import type { Database, Queryable } from '../../db/core/database.ts';
import { violates } from '../../db/core/errors.ts';
import {
  deleteModel,
  findModel,
  insertModel,
  listModels,
  type ModelRow,
  modelsName,
  mostModels,
} from '../../db/observability/models.ts';
import { readCursor, writeCursor } from '../../platform/lists/cursor.ts';
import {
  invalidParameter,
  metaOf,
  numberIn,
  pageIn,
  type RawQuery,
  textIn,
} from '../../platform/lists/query.ts';
import type { Compiler } from '../../worlds/compile/compiler.ts';
import { judgePatterns } from './patterns.ts';

const noModel = (): AppError => new AppError('not_found', 'Model not found');

const viewTiers = (tiers: readonly PricingTier[]): ModelView['pricingTiers'] =>
  tiers.map((tier) => ({
    ...tier,
    conditions: tier.conditions.map((one) =>
      'source' in one ? { ...one, values: [...one.values] } : one,
    ),
    prices: { ...tier.prices },
  }));

const pricesOf = (tiers: readonly PricingTier[]) => {
  const prices = tiers.find(({ isDefault }) => isDefault)?.prices ?? {};
  const of = (name: string): number | null =>
    Object.hasOwn(prices, name) ? (prices[name] ?? null) : null;
  return {
    inputPrice: of('input'),
    outputPrice: of('output'),
    totalPrice: of('total'),
    prices: Object.fromEntries(Object.entries(prices).map(([name, price]) => [name, { price }])),
  };
};

const viewModel = (model: ModelRow): ModelView => ({
  id: model.id,
  modelName: model.modelName,
  matchPattern: model.matchPattern,
  startDate: model.startDate?.toISOString() ?? null,
  unit: model.unit,
  tokenizerId: model.tokenizerId,
  tokenizerConfig: jsonText(model.tokenizerConfig),
  isLangfuseManaged: false,
  createdAt: model.createdAt.toISOString(),
  ...pricesOf(model.tiers),
  pricingTiers: viewTiers(model.tiers),
});

const viewBuiltIn = ({ id, modelName, matchPattern, unit, tiers }: BuiltInModel): ModelView => ({
  id,
  modelName,
  matchPattern,
  startDate: null,
  unit,
  tokenizerId: null,
  tokenizerConfig: null,
  isLangfuseManaged: true,
  createdAt: `${pricesAsOf}T00:00:00.000Z`,
  ...pricesOf(tiers),
  pricingTiers: viewTiers(tiers),
});

/** Returns the patterns of a model, each with the path of its field in the body. */
const patternsOf = ({ matchPattern, tiers }: ModelContent): [path: string, pattern: string][] => [
  ['matchPattern', matchPattern],
  ...tiers.flatMap(({ conditions }, tier) =>
    conditions.flatMap((condition, place): [string, string][] =>
      'source' in condition
        ? []
        : [
            [
              `pricingTiers.${tier}.conditions.${place}.usageDetailPattern`,
              condition.usageDetailPattern,
            ],
          ],
    ),
  ),
];

/** Throws `invalid` if a pattern of the model is invalid. */
const checkPatterns = async (compiler: Compiler, projectId: string, content: ModelContent) => {
  const patterns = patternsOf(content);
  const texts = patterns.map(([, pattern]) => pattern);
  const faults = await judgePatterns(compiler, projectId, texts);
  for (const [index, [path]] of patterns.entries()) {
    const fault = faults[index] ?? null;
    if (fault !== null) throw invalidParameter(path.split('.'), fault);
  }
};

/** Database of models, and the compiler that validates their patterns. */
export type ModelStore = { db: Database; compiler: Compiler };

/**
 * Creates a model. Throws `invalid` for bad content or if the project has a model of this name, and `exhausted` if a
 * limit is reached.
 */
export const createModel = async (
  { db, compiler }: ModelStore,
  projectId: string,
  given: ModelContent,
): Promise<ModelView> => {
  await checkPatterns(compiler, projectId, given);
  const { tiers, startDate, ...content } = given;
  const id = newId('mdl');
  const model = {
    ...content,
    id,
    startDate: startDate === null ? null : new Date(startDate),
    tiers: tiers.map((tier) => ({ ...tier, id: `${id}-${tier.priority}` })),
  };
  try {
    const made = await insertModel(db, projectId, model);
    if (made !== undefined) return viewModel(made);
  } catch (error) {
    if (!violates(error, modelsName)) throw error;
    throw invalidParameter(
      'modelName',
      `another model of the project has the name "${content.modelName}"`,
    );
  }
  const message = `the project has ${mostModels} models, the maximum; delete some first`;
  throw new AppError('exhausted', message, { detail: { limit: mostModels } });
};

/** Returns a model of the project or a built-in one; throws `not_found`. */
export const readModelOf = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<ModelView> => {
  const builtIn = builtInModels.find((model) => model.id === id);
  if (builtIn !== undefined) return viewBuiltIn(builtIn);
  const model = await findModel(db, projectId, id);
  if (model === undefined) throw noModel();
  return viewModel(model);
};

/** Deletes a model of the project; throws `not_found` also for a built-in model. */
export const removeModel = async (db: Database, projectId: string, id: string): Promise<void> => {
  if (!(await deleteModel(db, projectId, id))) throw noModel();
};

type Place = readonly [name: string, id: string];

const placeOf = ({ modelName, id }: ModelView): Place => [modelName, id];

const compare = ([name, id]: Place, [otherName, otherId]: Place): number => {
  if (name !== otherName) return name < otherName ? -1 : 1;
  if (id === otherId) return 0;
  return id < otherId ? -1 : 1;
};

const readPlace = (cursor: string): Place => {
  const [name, id] = readCursor(cursor);
  if (typeof name === 'string' && typeof id === 'string') return [name, id];
  throw invalidParameter('cursor', 'is not meta.nextCursor of a page of this list');
};

/** Returns a page of models, sorted by name. There are few enough to sort in memory. */
export const readModels = async (db: Queryable, projectId: string, query: RawQuery) => {
  const cursor = textIn(query, 'cursor');
  if (cursor !== undefined && textIn(query, 'page') !== undefined) {
    throw invalidParameter('cursor', 'cannot be combined with "page": give one of them');
  }
  const { pageMax, pageDefault } = limits;
  const limit = numberIn(query, 'limit', { least: 1, most: pageMax, usual: pageDefault });
  const page = cursor === undefined ? pageIn(query) : { page: 1, limit, offset: 0 };
  const own = await listModels(db, projectId);
  const all = [...own.map(viewModel), ...builtInModels.map(viewBuiltIn)];
  all.sort((one, other) => compare(placeOf(one), placeOf(other)));
  const from = cursor === undefined ? undefined : readPlace(cursor);
  const left = from === undefined ? all : all.filter((one) => compare(placeOf(one), from) > 0);
  const data = left.slice(page.offset, page.offset + limit);
  const last = data.at(-1);
  const hasMore = last !== undefined && page.offset + limit < left.length;
  const next = hasMore ? { nextCursor: writeCursor(placeOf(last)) } : {};
  return { data, meta: { ...metaOf(page, { total: all.length, isLowerBound: false }), ...next } };
};
