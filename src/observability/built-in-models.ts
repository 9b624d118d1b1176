/**
 * Models that every project knows, with the list prices of their vendors on a day. `make prices FILE=<file>` brings the
 * table up to date (`model-prices.json`); here is how their names are spelled. Observations keep what they cost when they were written; a project with prices of its own
 * makes a model of its own, which goes before these.
 */

import table from './model-prices.json' with { type: 'json' };
import { spellingsOf, textIn, type Vendor, vendors } from './model-spellings.ts';
import type { PricedModel, PricingTier, TierCondition } from './pricing.ts';
import type { Counts } from './usage.ts';

/**
 * Day on which the prices were compared with the vendors' lists, as far as these could be had: Anthropic's own pages
 * (platform.claude.com/docs, about-claude/pricing and models, of October 2026), Google's as listed by api-evangelist/deepmind
 * (`plans/deepmind-plans-pricing.yml`, read 2026-10-07), OpenAI's as listed by api-evangelist/openai
 * (`plans/openai-plans-pricing.yml`, read 2026-05-04) and, for GPT-5.6 and GPT-6, by release notes that name its list of 2026-07-30,
 * 2026-09-03 and 2026-09-22; all that is older by langfuse/langfuse
 * (`worker/src/constants/default-model-prices.json`, of 2026-08-22).
 */
export const pricesAsOf = table.asOf;

/** A built-in model. */
export type BuiltInModel = PricedModel & {
  unit: 'TOKENS';
  /** Word in every name that its pattern matches, in lower case. */
  text: string;
};

/** Dollars for a million tokens: what goes in, comes out, is read from a cache and is written to one. */
type Row = readonly [
  name: string,
  input: number,
  output: number,
  cached?: number | null | undefined,
  cacheWrite?: number | null | undefined,
];

/** Prices of inputs of more than so many tokens, of models of which they are known. Those of GPT-6 are not. */
type Long = readonly [
  tokens: number,
  input: number,
  output: number,
  cached?: number | null | undefined,
  cacheWrite?: number | null | undefined,
];

/** Names by which SDKs and collectors count the same. */
const cachedNames = ['input_cached_tokens', 'input_cache_read', 'cache_read_input_tokens'];
const cacheWriteNames = [
  'input_cache_creation',
  'input_cache_creation_5m',
  'cache_creation_input_tokens',
];
/** What is kept for an hour costs twice the input, by Anthropic, which alone tells it apart. */
const hourWriteNames = ['input_cache_creation_1h'];
const outputNames = ['output', 'output_reasoning_tokens', 'output_reasoning'];

/** By the decimal digits: a division would leave the nearest number beside the price. */
const perToken = (price: number): number => Number(`${price}e-6`);

const priced = (names: readonly string[], price: number | null | undefined): Counts =>
  price === undefined || price === null
    ? {}
    : Object.fromEntries(names.map((name) => [name, perToken(price)]));

/** Prices of what is counted by no common name, such as sound; dollars for a million. */
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

/** Dearer prices for long inputs. */
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
  // A model without dearer prices has none of its own in the table.
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
