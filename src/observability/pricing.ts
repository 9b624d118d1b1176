/**
 * What an observation costs by the prices of the model that it names. Pure: who matches patterns of strangers is
 * given, as that is done elsewhere.
 */
import { type Counts, totalsOf } from './usage.ts';

export const usageUnits = [
  'TOKENS',
  'CHARACTERS',
  'MILLISECONDS',
  'SECONDS',
  'REQUESTS',
  'IMAGES',
] as const;
export type UsageUnit = (typeof usageUnits)[number];

export const tierOperators = ['gt', 'gte', 'lt', 'lte', 'eq', 'neq'] as const;
export type TierOperator = (typeof tierOperators)[number];

/** Holds when what was used under names that the pattern is found in, added up, compares so. */
export type UsageCondition = {
  usageDetailPattern: string;
  operator: TierOperator;
  value: number;
  caseSensitive: boolean;
};

export const attributeSources = ['model_parameters', 'metadata'] as const;
/** A member of what an observation was told with, at the top. */
export type Attribute = { source: (typeof attributeSources)[number]; key: string };

/** Holds when the member is a text that is one of the values. */
export type AttributeCondition = Attribute & { operator: 'in'; values: readonly string[] };

export type TierCondition = UsageCondition | AttributeCondition;

/** Prices in dollars a unit, by the names that usage is counted by. */
export type PricingTier = {
  id: string;
  name: string;
  isDefault: boolean;
  /** The lesser is tried first; the default is tried last. */
  priority: number;
  conditions: readonly TierCondition[];
  prices: Counts;
};

/** A model as far as prices go. */
export type PricedModel = {
  id: string;
  modelName: string;
  /** RE2, found anywhere in the name that an observation gives. */
  matchPattern: string;
  /** Milliseconds since 1970 from which it holds; null: from ever. */
  startDate: number | null;
  tiers: readonly PricingTier[];
};

/** What is known of an observation that has a price. */
export type Priceable = {
  model: string | null;
  /** What was used, as the JSON of counts: it is read where there is a price for it, as of most models there is none. */
  usageJson: string | null;
  /** Whether its cost was given: then none is computed. */
  hasCost: boolean;
  beganAt: number;
  /** The text of a member; null where there is none, or it is no text. */
  textOf(attribute: Attribute): string | null;
};

/** What was used. */
export const usageOf = ({ usageJson }: Pick<Priceable, 'usageJson'>): Counts | null =>
  usageJson === null ? null : (JSON.parse(usageJson) as Counts);

/** What an observation was priced by. */
export type Pricing = {
  modelId: string;
  tierId: string;
  tierName: string;
  inputPrice: number | null;
  outputPrice: number | null;
  totalPrice: number | null;
  /** In dollars, by the names of its usage, and `total`; null where nothing of it has a price. */
  cost: Counts | null;
  /** What tiers of the model look at beside its usage. */
  attributes: readonly Attribute[];
};

/** Whether a pattern is found in a text. */
export type Matches = (pattern: string, text: string) => boolean;

/** The pattern of a condition as it is matched. */
export const patternOf = ({ usageDetailPattern, caseSensitive }: UsageCondition): string =>
  caseSensitive ? usageDetailPattern : `(?i)${usageDetailPattern}`;

/** Of conditions, those on usage. */
export const usageConditions = (conditions: readonly TierCondition[]): UsageCondition[] =>
  conditions.filter((condition): condition is UsageCondition => !('source' in condition));

const attributesOf = (tiers: readonly PricingTier[]): Attribute[] =>
  tiers.flatMap(({ conditions }) =>
    conditions.flatMap((condition) =>
      'source' in condition ? [{ source: condition.source, key: condition.key }] : [],
    ),
  );

const compare: Readonly<Record<TierOperator, (one: number, other: number) => boolean>> = {
  gt: (one, other) => one > other,
  gte: (one, other) => one >= other,
  lt: (one, other) => one < other,
  lte: (one, other) => one <= other,
  eq: (one, other) => one === other,
  neq: (one, other) => one !== other,
};

/** Later ones first; one that holds from ever is the last. */
const byStart = (one: PricedModel, other: PricedModel): number =>
  (other.startDate ?? Number.NEGATIVE_INFINITY) - (one.startDate ?? Number.NEGATIVE_INFINITY);

/** The model that holds at a time, of those whose pattern matches. */
export const modelAt = (
  matching: readonly PricedModel[],
  beganAt: number,
): PricedModel | undefined =>
  matching.filter(({ startDate }) => startDate === null || startDate <= beganAt).sort(byStart)[0];

/** The tier that applies. */
export const tierOf = (
  tiers: readonly PricingTier[],
  { usage, textOf }: Pick<Priceable, 'textOf'> & { usage: Counts | null },
  matches: Matches,
): PricingTier | undefined => {
  const holds = (condition: TierCondition): boolean => {
    if ('source' in condition) {
      const text = textOf(condition);
      return text !== null && condition.values.includes(text);
    }
    const pattern = patternOf(condition);
    const sum = Object.entries(usage ?? {}).reduce(
      (total, [name, count]) => (matches(pattern, name) ? total + count : total),
      0,
    );
    return compare[condition.operator](sum, condition.value);
  };
  const tried = tiers.filter(({ isDefault }) => !isDefault);
  tried.sort((one, other) => one.priority - other.priority);
  return (
    tried.find(({ conditions }) => conditions.every(holds)) ??
    tiers.find(({ isDefault }) => isDefault)
  );
};

const priceOf = (prices: Counts, name: string): number | undefined =>
  Object.hasOwn(prices, name) ? prices[name] : undefined;

/** What usage costs; null where nothing of it has a price. */
export const costOf = (usage: Counts, prices: Counts): Counts | null => {
  const parts = Object.entries(usage).flatMap(([name, count]): [string, number][] => {
    const price = priceOf(prices, name);
    return price === undefined ? [] : [[name, count * price]];
  });
  if (parts.length === 0) return null;
  const costs = Object.fromEntries(parts);
  return { ...costs, total: totalsOf(costs).total };
};

/** Prices an observation by a model that it names. */
export const priceBy = (
  { id, tiers }: PricedModel,
  item: Priceable,
  matches: Matches,
): Pricing | null => {
  const [usage, { hasCost, textOf }] = [usageOf(item), item];
  const tier = tierOf(tiers, { usage, textOf }, matches);
  if (tier === undefined) return null;
  const { prices } = tier;
  return {
    modelId: id,
    tierId: tier.id,
    tierName: tier.name,
    inputPrice: priceOf(prices, 'input') ?? null,
    outputPrice: priceOf(prices, 'output') ?? null,
    totalPrice: priceOf(prices, 'total') ?? null,
    cost: hasCost || usage === null ? null : costOf(usage, prices),
    attributes: attributesOf(tiers),
  };
};

/** Whether what the price of an observation follows from is still the same; `pricing` is that of the first. */
export const isPricedSame = (pricing: Pricing | null, one: Priceable, other: Priceable): boolean =>
  JSON.stringify(one) === JSON.stringify(other) &&
  (pricing?.attributes ?? []).every((name) => one.textOf(name) === other.textOf(name));

/** As text, for a column. */
export const writePricing = (pricing: Pricing | null): string | null => {
  if (pricing === null) return null;
  const { modelId, tierId, tierName, inputPrice, outputPrice, totalPrice, cost } = pricing;
  const attributes = pricing.attributes.map(({ source, key }) => [source, key]);
  const written = [modelId, tierId, tierName, inputPrice, outputPrice, totalPrice, cost];
  return JSON.stringify(attributes.length === 0 ? written : [...written, attributes]);
};

type Prices = [number | null, number | null, number | null, Counts | null];
type Written = [string, string, string, ...Prices, [Attribute['source'], string][]?];

/** What `writePricing` wrote. */
export const readPricing = (text: string | null): Pricing | null => {
  if (text === null) return null;
  const [modelId, tierId, tierName, inputPrice, outputPrice, totalPrice, cost, looked] = JSON.parse(
    text,
  ) as Written;
  const attributes = (looked ?? []).map(([source, key]) => ({ source, key }));
  return { modelId, tierId, tierName, inputPrice, outputPrice, totalPrice, cost, attributes };
};
