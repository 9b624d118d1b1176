/**
 * Models that every project knows, with the list prices of their vendors on a day. To bring them up to date, change
 * the table and its day. Observations keep what they cost when they were written; a project with prices of its own
 * makes a model of its own, which goes before these.
 */
import type { PricedModel, PricingTier, TierCondition } from './pricing.ts';
import type { Counts } from './usage.ts';

/** The day on which the prices were those of the vendors' lists. */
export const pricesAsOf = '2025-11-01';

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

const million = 1_000_000;

/** Names by which SDKs and collectors count the same. */
const cachedNames = ['input_cached_tokens', 'input_cache_read', 'cache_read_input_tokens'];
const cacheWriteNames = ['input_cache_creation', 'cache_creation_input_tokens'];
const outputNames = ['output', 'output_reasoning_tokens', 'output_reasoning'];

const priced = (names: readonly string[], price: number | undefined): Counts =>
  price === undefined ? {} : Object.fromEntries(names.map((name) => [name, price / million]));

const pricesOf = ([, input, output, cached, cacheWrite]: Row): Counts => ({
  ...priced(['input'], input),
  ...priced(output === 0 ? [] : outputNames, output),
  ...priced(cachedNames, cached),
  ...priced(cacheWriteNames, cacheWrite),
});

const standard = (id: string, row: Row): PricingTier => ({
  id: `${id}-standard`,
  name: 'Standard',
  isDefault: true,
  priority: 0,
  conditions: [],
  prices: pricesOf(row),
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
  prices: pricesOf(row),
});

type Vendor = { before: string; after: string; rows: readonly Row[] };

/** As each vendor, and those who sell its models, write names: what may stand before and after. */
const openai: Vendor = {
  before: '(?:openai/|azure/)?',
  after: '(?:-\\d{4}-\\d{2}-\\d{2})?',
  rows: [
    ['gpt-5', 1.25, 10, 0.125],
    ['gpt-5-mini', 0.25, 2, 0.025],
    ['gpt-5-nano', 0.05, 0.4, 0.005],
    ['gpt-5-codex', 1.25, 10, 0.125],
    ['gpt-4.1', 2, 8, 0.5],
    ['gpt-4.1-mini', 0.4, 1.6, 0.1],
    ['gpt-4.1-nano', 0.1, 0.4, 0.025],
    ['gpt-4o', 2.5, 10, 1.25],
    ['gpt-4o-mini', 0.15, 0.6, 0.075],
    ['o1', 15, 60, 7.5],
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
    ['gemini-2.5-pro', 1.25, 10, 0.125],
    ['gemini-2.5-flash', 0.3, 2.5, 0.03],
    ['gemini-2.5-flash-lite', 0.1, 0.4, 0.01],
    ['gemini-2.0-flash', 0.1, 0.4, 0.025],
    ['gemini-2.0-flash-lite', 0.075, 0.3],
  ],
};

/** Prices of long inputs, of models that have them. */
const longRows: Readonly<Record<string, Row>> = {
  'claude-sonnet-4-5': ['', 6, 22.5, 0.6, 7.5],
  'claude-sonnet-4': ['', 6, 22.5, 0.6, 7.5],
  'gemini-2.5-pro': ['', 2.5, 15, 0.25],
};
const longTokens = 200_000;

const modelOf = ({ before, after }: Vendor, row: Row): BuiltInModel => {
  const [modelName] = row;
  const id = `builtin-${modelName}`;
  const longRow = longRows[modelName];
  return {
    id,
    modelName,
    matchPattern: `(?i)^${before}${modelName.replaceAll('.', '\\.')}${after}$`,
    startDate: null,
    unit: 'TOKENS',
    tiers: [standard(id, row), ...(longRow === undefined ? [] : [long(id, longTokens, longRow)])],
  };
};

export const builtInModels: readonly BuiltInModel[] = [openai, anthropic, google].flatMap(
  (vendor) => vendor.rows.map((row) => modelOf(vendor, row)),
);
