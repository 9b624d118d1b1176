/**
 * Computes the cost of an observation from the prices of the model that it names. Has no side effects. The caller
 * passes the function that matches patterns, because patterns of users are matched in other processes.
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

/** Condition on usage. It is true if the sum of all counts whose names match the pattern satisfies the comparison. */
export type UsageCondition = {
  usageDetailPattern: string;
  operator: TierOperator;
  value: number;
  caseSensitive: boolean;
};

export const attributeSources = ['model_parameters', 'metadata'] as const;
/** Top-level member of the observation's model parameters or metadata. */
export type Attribute = { source: (typeof attributeSources)[number]; key: string };

/** Condition on an attribute. It is true if the attribute is a text and equals one of the values. */
export type AttributeCondition = Attribute & { operator: 'in'; values: readonly string[] };

export type TierCondition = UsageCondition | AttributeCondition;

/** Tier of a model: prices in dollars per unit, by the names of usage, and the conditions under which they apply. */
export type PricingTier = {
  id: string;
  name: string;
  isDefault: boolean;
  /** Tiers with lower priorities are tried first; the default tier is tried last. */
  priority: number;
  conditions: readonly TierCondition[];
  prices: Counts;
};

/** The fields of a model that pricing needs. */
export type PricedModel = {
  id: string;
  modelName: string;
  /** RE2 pattern, matched anywhere in the model name of an observation. */
  matchPattern: string;
  /** Start of the model's validity, in milliseconds since 1970; null if it was always valid. */
  startDate: number | null;
  tiers: readonly PricingTier[];
};

/** The fields of an observation that pricing needs. */
export type Priceable = {
  model: string | null;
  /**
   * Usage as JSON text of counts; null if there is none. It is parsed only if the model has prices, since most models
   * have none.
   */
  usageJson: string | null;
  /** True if the client gave the cost; no cost is then computed. */
  hasCost: boolean;
  beganAt: number;
  /** Returns the text of an attribute; null if the attribute is absent or no text. */
  textOf(attribute: Attribute): string | null;
};

/** Returns the usage of an observation as counts; null if there is none. */
export const usageOf = ({ usageJson }: Pick<Priceable, 'usageJson'>): Counts | null =>
  usageJson === null ? null : (JSON.parse(usageJson) as Counts);

/** The model, tier and prices that an observation was priced with. */
export type Pricing = {
  modelId: string;
  tierId: string;
  tierName: string;
  inputPrice: number | null;
  outputPrice: number | null;
  totalPrice: number | null;
  /**
   * Cost in dollars, by the names of usage and as `total`. It is null if no part of the usage has a price, or if the
   * client gave the cost.
   */
  cost: Counts | null;
  /** Attributes on which the model's tiers depend, in addition to usage. */
  attributes: readonly Attribute[];
};

/** Returns true if the pattern matches anywhere in the text. */
export type Matches = (pattern: string, text: string) => boolean;

/** Returns the pattern of a condition, with a flag if it ignores case. */
export const patternOf = ({ usageDetailPattern, caseSensitive }: UsageCondition): string =>
  caseSensitive ? usageDetailPattern : `(?i)${usageDetailPattern}`;

/** Returns the conditions on usage, without those on attributes. */
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

/** Compares models by the start of their validity, latest first; models without a start come last. */
const byStart = (one: PricedModel, other: PricedModel): number =>
  (other.startDate ?? Number.NEGATIVE_INFINITY) - (one.startDate ?? Number.NEGATIVE_INFINITY);

/** Returns the model that is valid at a time, among models whose pattern matches. */
export const modelAt = (
  matching: readonly PricedModel[],
  beganAt: number,
): PricedModel | undefined =>
  matching.filter(({ startDate }) => startDate === null || startDate <= beganAt).sort(byStart)[0];

/** Returns the first tier, in order of priority, whose conditions all hold; else the default tier. */
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

/** Returns the cost of each part of the usage, by name; null if no part has a price. */
export const costOf = (usage: Counts, prices: Counts): Counts | null => {
  const parts = Object.entries(usage).flatMap(([name, count]): [string, number][] => {
    const price = priceOf(prices, name);
    return price === undefined ? [] : [[name, count * price]];
  });
  if (parts.length === 0) return null;
  const costs = Object.fromEntries(parts);
  return { ...costs, total: totalsOf(costs).total };
};

/**
 * Prices an observation with a model whose pattern matches the observation's model name. Returns null if the model has
 * no applicable tier.
 */
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

/**
 * Returns true if both observations have the same price, because all that the price depends on is equal. `pricing` is
 * the pricing of the first one.
 */
export const isPricedSame = (pricing: Pricing | null, one: Priceable, other: Priceable): boolean =>
  JSON.stringify(one) === JSON.stringify(other) &&
  (pricing?.attributes ?? []).every((name) => one.textOf(name) === other.textOf(name));

/** Returns a pricing as the text that is stored in its column; null if there is none. */
export const writePricing = (pricing: Pricing | null): string | null => {
  if (pricing === null) return null;
  const { modelId, tierId, tierName, inputPrice, outputPrice, totalPrice, cost } = pricing;
  const attributes = pricing.attributes.map(({ source, key }) => [source, key]);
  const written = [modelId, tierId, tierName, inputPrice, outputPrice, totalPrice, cost];
  return JSON.stringify(attributes.length === 0 ? written : [...written, attributes]);
};

type Prices = [number | null, number | null, number | null, Counts | null];
type Written = [string, string, string, ...Prices, [Attribute['source'], string][]?];

/** Reads the text that `writePricing` wrote. */
export const readPricing = (text: string | null): Pricing | null => {
  if (text === null) return null;
  const [modelId, tierId, tierName, inputPrice, outputPrice, totalPrice, cost, looked] = JSON.parse(
    text,
  ) as Written;
  const attributes = (looked ?? []).map(([source, key]) => ({ source, key }));
  return { modelId, tierId, tierName, inputPrice, outputPrice, totalPrice, cost, attributes };
};
