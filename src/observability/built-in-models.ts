/**
 * Built-in models with the list prices of their vendors on one day; every project has them. The prices are in
 * `model-prices.json`, which `make prices FILE=<file>` updates. This file builds the spellings of the names and the
 * tiers. An observation keeps the cost that was computed when it was written. A model that a project defines takes
 * precedence over a built-in one.
 */

import table from './model-prices.json' with { type: 'json' };
import { spellingsOf, textIn, type Vendor, vendors } from './model-spellings.ts';
import type { PricedModel, PricingTier, TierCondition } from './pricing.ts';
import type { Counts } from './usage.ts';

/**
 * Day on which the prices were compared with the vendors' lists, as far as these were available. Anthropic: its own
 * pages (platform.claude.com/docs, about-claude/pricing and models, of October 2026). Google: api-evangelist/deepmind
 * (`plans/deepmind-plans-pricing.yml`, read 2026-10-07). OpenAI: api-evangelist/openai
 * (`plans/openai-plans-pricing.yml`, read 2026-05-04) and, for GPT-5.6 and GPT-6, release notes that cite OpenAI's
 * lists of 2026-07-30, 2026-09-03 and 2026-09-22. All older models: langfuse/langfuse
 * (`worker/src/constants/default-model-prices.json`, of 2026-08-22).
 */
export const pricesAsOf = table.asOf;

/** A built-in model. */
export type BuiltInModel = PricedModel & {
  unit: 'TOKENS';
  /** Text in lower case that occurs in every name which the model's pattern matches. */
  text: string;
};

/** Row of the price table: dollars per million tokens of input, output, cache reads and cache writes. */
type Row = readonly [
  name: string,
  input: number,
  output: number,
  cached?: number | null | undefined,
  cacheWrite?: number | null | undefined,
];

/**
 * Prices for inputs longer than `tokens`, for the models whose long-input prices are known. Those of GPT-6 are not
 * known.
 */
type Long = readonly [
  tokens: number,
  input: number,
  output: number,
  cached?: number | null | undefined,
  cacheWrite?: number | null | undefined,
];

/** Names of counts of cached tokens; SDKs and collectors use different names for the same count. */
const cachedNames = ['input_cached_tokens', 'input_cache_read', 'cache_read_input_tokens'];
const cacheWriteNames = [
  'input_cache_creation',
  'input_cache_creation_5m',
  'cache_creation_input_tokens',
];
/**
 * Names of counts of cache writes that are kept for one hour. They cost twice the input price, and only Anthropic
 * counts them separately.
 */
const hourWriteNames = ['input_cache_creation_1h'];
const outputNames = ['output', 'output_reasoning_tokens', 'output_reasoning'];

/**
 * Converts a price per million tokens to a price per token. It shifts the decimal point in the text, because a division
 * could yield a neighbouring number instead of the exact price.
 */
const perToken = (price: number): number => Number(`${price}e-6`);

const priced = (names: readonly string[], price: number | null | undefined): Counts =>
  price === undefined || price === null
    ? {}
    : Object.fromEntries(names.map((name) => [name, perToken(price)]));

/** Returns the prices of usage that only some models have, such as audio; the table has dollars per million. */
const otherPrices = (name: string): Counts => {
  const others: Readonly<Record<string, Readonly<Record<string, number>>>> = table.other;
  const own = Object.hasOwn(others, name) ? (others[name] ?? {}) : {};
  return Object.fromEntries(Object.entries(own).map(([key, price]) => [key, perToken(price)]));
};

const pricesOf = (id: string, [, input, output, cached, cacheWrite]: Row): Counts => ({
  ...priced(['input'], input),
  ...priced(output === 0 ? [] : outputNames, output),
  ...priced(cachedNames, cached),
  ...priced(cacheWriteNames, cacheWrite),
  ...priced(hourWriteNames, id.startsWith('builtin-claude-') ? 2 * input : undefined),
});

const standard = (id: string, row: Row): PricingTier => ({
  id: `${id}-standard`,
  name: 'Standard',
  isDefault: true,
  priority: 0,
  conditions: [],
  prices: { ...pricesOf(id, row), ...otherPrices(row[0]) },
});

const longInput = (tokens: number): TierCondition => ({
  usageDetailPattern: '^(input|cache_)',
  operator: 'gt',
  value: tokens,
  caseSensitive: true,
});

/** Builds the tier with the higher prices for long inputs. */
const long = (id: string, [tokens, ...prices]: Long): PricingTier => ({
  id: `${id}-long`,
  name: 'Long context',
  isDefault: false,
  priority: 1,
  conditions: [longInput(tokens)],
  prices: pricesOf(id, ['', ...prices]),
});

const longs: Readonly<Record<string, unknown>> = table.long;

const modelOf = (vendor: Vendor, row: Row): BuiltInModel => {
  const [modelName] = row;
  const id = `builtin-${modelName}`;
  // A model without higher prices for long inputs has no entry in the table.
  const longer = Object.hasOwn(longs, modelName) ? (longs[modelName] as Long) : undefined;
  return {
    id,
    modelName,
    matchPattern: spellingsOf(vendor, modelName),
    startDate: null,
    unit: 'TOKENS',
    text: textIn(vendor, modelName),
    tiers: [standard(id, row), ...(longer === undefined ? [] : [long(id, longer)])],
  };
};

export const builtInModels: readonly BuiltInModel[] = vendors.flatMap((vendor) =>
  (table[vendor] as unknown as Row[]).map((row) => modelOf(vendor, row)),
);
