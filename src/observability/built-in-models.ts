/**
 * Models that every project knows, with the list prices of their vendors on a day. To bring them up to date, change
 * the table and its day. Observations keep what they cost when they were written; a project with prices of its own
 * makes a model of its own, which goes before these.
 */
import type { PricedModel, PricingTier, TierCondition } from './pricing.ts';
import type { Counts } from './usage.ts';

/**
 * The day on which the prices were held to the vendors' lists, as far as these could be had: Anthropic's own pages
 * (platform.claude.com/docs, about-claude/pricing and models, of October 2026), Google's as told by api-evangelist/deepmind
 * (`plans/deepmind-plans-pricing.yml`, read 2026-10-07), OpenAI's as told by api-evangelist/openai
 * (`plans/openai-plans-pricing.yml`, read 2026-05-04) and, for GPT-5.6 and GPT-6, by release notes that name its list of 2026-07-30,
 * 2026-09-03 and 2026-09-22; all that is older by langfuse/langfuse
 * (`worker/src/constants/default-model-prices.json`, of 2026-07-11).
 */
export const pricesAsOf = '2026-11-26';

/** A built-in model. */
export type BuiltInModel = PricedModel & { unit: 'TOKENS' };

/** Dollars for a million tokens: what goes in, comes out, is read from a cache and is written to one. */
type Row = readonly [
  name: string,
  input: number,
  output: number,
  cached?: number | undefined,
  cacheWrite?: number | undefined,
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

const priced = (names: readonly string[], price: number | undefined): Counts =>
  price === undefined ? {} : Object.fromEntries(names.map((name) => [name, perToken(price)]));

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
  prices: pricesOf(id, row),
});

const longInput = (tokens: number): TierCondition => ({
  usageDetailPattern: '^(input|cache_)',
  operator: 'gt',
  value: tokens,
  caseSensitive: true,
});

/** Dearer prices for inputs of more than so many tokens. */
const long = (id: string, tokens: number, row: Row): PricingTier => ({
  id: `${id}-long`,
  name: 'Long context',
  isDefault: false,
  priority: 1,
  conditions: [longInput(tokens)],
  prices: pricesOf(id, row),
});

type Vendor = { before: string; after: string; rows: readonly Row[] };

/** As each vendor, and those who sell its models, write names: what may stand before and after. */
const openai: Vendor = {
  before: '(?:openai/|azure/)?',
  after: '(?:-\\d{4}-\\d{2}-\\d{2})?',
  rows: [
    ['gpt-6-astra', 10, 50, 1],
    ['gpt-6-sol', 2, 10, 0.2, 2.5],
    ['gpt-6-luna', 0.1, 0.5, 0.01, 0.125],
    ['gpt-5.6-sol', 5, 30, 0.5],
    ['gpt-5.6-terra', 2, 12, 0.2],
    ['gpt-5.6-luna', 0.2, 1.2, 0.02],
    ['gpt-5.5', 5, 30, 0.5],
    ['gpt-5.5-pro', 30, 180],
    ['gpt-5.4', 2.5, 15, 0.25],
    ['gpt-5.4-mini', 0.75, 4.5, 0.075],
    ['gpt-5.4-nano', 0.2, 1.25, 0.02],
    ['gpt-5.4-pro', 30, 180],
    ['gpt-5.3-codex', 1.75, 14, 0.175],
    ['gpt-5.2', 1.75, 14, 0.175],
    ['gpt-5.2-pro', 21, 168],
    ['gpt-5.1', 1.25, 10, 0.125],
    ['gpt-5', 1.25, 10, 0.125],
    ['gpt-5-pro', 15, 120],
    ['gpt-5-chat-latest', 1.25, 10, 0.125],
    ['gpt-5-mini', 0.25, 2, 0.025],
    ['gpt-5-nano', 0.05, 0.4, 0.005],
    ['gpt-5-codex', 1.25, 10, 0.125],
    ['gpt-4.1', 2, 8, 0.5],
    ['gpt-4.1-mini', 0.4, 1.6, 0.1],
    ['gpt-4.1-nano', 0.1, 0.4, 0.025],
    ['gpt-4o', 2.5, 10, 1.25],
    ['gpt-4o-2024-05-13', 5, 15],
    ['gpt-4o-mini', 0.15, 0.6, 0.075],
    ['o1', 15, 60, 7.5],
    ['o1-pro', 150, 600],
    ['o1-mini', 1.1, 4.4, 0.55],
    ['o3', 2, 8, 0.5],
    ['o3-mini', 1.1, 4.4, 0.55],
    ['o3-pro', 20, 80],
    ['o4-mini', 1.1, 4.4, 0.275],
    ['gpt-4-turbo', 10, 30],
    ['gpt-4', 30, 60],
    ['gpt-3.5-turbo', 0.5, 1.5],
    ['text-embedding-3-small', 0.02, 0],
    ['text-embedding-3-large', 0.13, 0],
    ['text-embedding-ada-002', 0.1, 0],
  ],
};

const anthropic: Vendor = {
  before: '(?:anthropic/|(?:[a-z]{2,6}\\.)?anthropic\\.)?',
  after: '(?:[-@](?:\\d{8}|latest|0))?(?:-v\\d+(?::\\d+)?)?',
  rows: [
    ['claude-fable-5-1', 10, 50, 0.25, 12.5],
    ['claude-fable-5', 10, 50, 1, 12.5],
    ['claude-mythos-5-1', 10, 50, 0.25, 12.5],
    ['claude-mythos-5', 10, 50, 1, 12.5],
    ['claude-opus-5-5', 4, 20, 0.2, 5],
    ['claude-opus-5', 5, 25, 0.5, 6.25],
    ['claude-opus-4-8', 5, 25, 0.5, 6.25],
    ['claude-opus-4-7', 5, 25, 0.5, 6.25],
    ['claude-opus-4-6', 5, 25, 0.5, 6.25],
    ['claude-opus-4-5', 5, 25, 0.5, 6.25],
    ['claude-sonnet-5-5', 2, 10, 0.1, 2.5],
    ['claude-sonnet-5', 2, 10, 0.2, 2.5],
    ['claude-sonnet-4-6', 3, 15, 0.3, 3.75],
    ['claude-haiku-5-5', 0.1, 0.5, 0.01, 0.125],
    ['claude-opus-4-1', 15, 75, 1.5, 18.75],
    ['claude-opus-4', 15, 75, 1.5, 18.75],
    ['claude-sonnet-4-5', 3, 15, 0.3, 3.75],
    ['claude-sonnet-4', 3, 15, 0.3, 3.75],
    ['claude-haiku-4-5', 1, 5, 0.1, 1.25],
    ['claude-3-7-sonnet', 3, 15, 0.3, 3.75],
    ['claude-3-5-sonnet', 3, 15, 0.3, 3.75],
    ['claude-3-5-haiku', 0.8, 4, 0.08, 1],
    ['claude-3-opus', 15, 75, 1.5, 18.75],
    ['claude-3-haiku', 0.25, 1.25, 0.03, 0.3],
  ],
};

const google: Vendor = {
  before: '(?:google/|models/)?',
  after: '(?:-latest|-\\d{3}|-preview-\\d{2}-\\d{2,4})?',
  rows: [
    ['gemini-3.5-flash', 1.5, 9, 0.15],
    ['gemini-3.5-flash-lite', 0.3, 2.5],
    ['gemini-3.1-pro-preview', 2, 12, 0.2],
    ['gemini-3.1-flash-lite', 0.25, 1.5, 0.025],
    ['gemini-3.1-flash-lite-preview', 0.25, 1.5, 0.025],
    ['gemini-3-pro-preview', 2, 12, 0.2],
    ['gemini-3-flash-preview', 0.5, 3, 0.05],
    ['gemini-2.5-pro', 1.25, 10, 0.125],
    ['gemini-2.5-flash', 0.3, 2.5, 0.03],
    ['gemini-2.5-flash-lite', 0.1, 0.4, 0.01],
    ['gemini-2.0-flash', 0.1, 0.4, 0.025],
    ['gemini-2.0-flash-lite', 0.075, 0.3],
  ],
};

/** Prices of inputs of more than so many tokens, of models of which they are known. Those of GPT-6 are not. */
const longRows: Readonly<Record<string, readonly [tokens: number, row: Row]>> = {
  'gpt-5.6-sol': [272_000, ['', 10, 45, 1]],
  'gpt-5.6-terra': [272_000, ['', 4, 18, 0.4]],
  'gpt-5.6-luna': [272_000, ['', 0.4, 1.8, 0.04]],
  'claude-haiku-5-5': [100_000, ['', 0.5, 2.5, 0.05, 0.625]],
  'claude-sonnet-4-5': [200_000, ['', 6, 22.5, 0.6, 7.5]],
  'claude-sonnet-4': [200_000, ['', 6, 22.5, 0.6, 7.5]],
  'gemini-3.1-pro-preview': [200_000, ['', 4, 18, 0.4]],
  'gemini-3-pro-preview': [200_000, ['', 4, 18, 0.4]],
  'gemini-2.5-pro': [200_000, ['', 2.5, 15, 0.25]],
};

/** Dated names that what may stand after the others does not fit, as they have prices of their own. */
const ownAfter: Readonly<Record<string, string>> = {
  'gpt-4o': '(?:-2024-08-06|-2024-11-20)?',
  'gpt-4o-2024-05-13': '',
};

const modelOf = ({ before, after }: Vendor, row: Row): BuiltInModel => {
  const [modelName] = row;
  const id = `builtin-${modelName}`;
  const longer = longRows[modelName];
  return {
    id,
    modelName,
    matchPattern: `(?i)^${before}${modelName.replaceAll('.', '\\.')}${ownAfter[modelName] ?? after}$`,
    startDate: null,
    unit: 'TOKENS',
    tiers: [standard(id, row), ...(longer === undefined ? [] : [long(id, ...longer)])],
  };
};

export const builtInModels: readonly BuiltInModel[] = [openai, anthropic, google].flatMap(
  (vendor) => vendor.rows.map((row) => modelOf(vendor, row)),
);
