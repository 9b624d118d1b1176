/**
 * `make prices FILE=<file>`: updates the table of built-in models from a file and prints the changes. The file lists
 * models as `GET /models` does: `modelName`, and `pricingTiers`, of which the default has `prices` in dollars per
 * token. Only standard prices are read; prices of long inputs are edited by hand.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { RE2JS } from 're2js';
import { spellingsOf, type Vendor, vendors } from '../../src/observability/model-spellings.ts';

/** Name of a model and its prices in dollars per million tokens: input, output, cache read, cache write. */
export type PriceRow = [name: string, ...prices: (number | null)[]];

export type PriceTable = Record<Vendor, PriceRow[]> & {
  asOf: string;
  long: Record<string, number[]>;
  other: Record<string, Record<string, number>>;
};

type Given = {
  modelName: string;
  pricingTiers: { isDefault: boolean; prices: Record<string, number> }[];
};

const byPrefix: readonly (readonly [prefix: RegExp, vendor: Vendor])[] = [
  [/^ft:/, 'openaiTuned'],
  [/^(?:gpt|chatgpt|o\d|text-(?:embedding|ada|babbage|curie|davinci)|babbage|davinci)/, 'openai'],
  [/^claude/, 'anthropic'],
  [/^(?:gemini|chat-bison|codechat|text-(?:bison|unicorn)|code-|textembedding)/, 'google'],
];

const perMillion = (price: number | undefined): number | null =>
  price === undefined ? null : Number((price * 1e6).toPrecision(10));

/**
 * Returns the prices of a model in the file; null for a missing one. A price for all tokens counts as input and
 * output.
 */
const pricesOf = ({ modelName, pricingTiers }: Given): (number | null)[] => {
  const prices = pricingTiers.find(({ isDefault }) => isDefault)?.prices ?? {};
  const { total, input = total } = prices;
  const { output = modelName.includes('embed') ? 0 : total } = prices;
  return [input, output, prices.input_cached_tokens, prices.input_cache_creation].map(perMillion);
};

const findRow = (table: PriceTable, name: string): PriceRow | undefined => {
  for (const vendor of vendors) {
    const row = table[vendor].find(([own]) => RE2JS.compile(spellingsOf(vendor, own)).test(name));
    if (row !== undefined) return row;
  }
  return undefined;
};

const trimmed = (prices: readonly (number | null)[]): (number | null)[] =>
  prices.slice(0, prices.findLastIndex((price) => price !== null) + 1);

const changeRow = (row: PriceRow, prices: readonly (number | null)[]): string[] => {
  const [name, ...before] = row;
  const length = Math.max(before.length, prices.length);
  const after = Array.from({ length }, (_, at) => prices[at] ?? before[at] ?? null);
  const kept = trimmed(after);
  if (JSON.stringify(kept) === JSON.stringify(before)) return [];
  row.splice(1, row.length, ...kept);
  return [`${name}: ${before.join(' ')} → ${kept.join(' ')}`];
};

/** Updates the table with the models of a file; returns a line for each model that changed or was left out. */
export const refreshPrices = (
  table: PriceTable,
  given: readonly Given[],
  day: string,
): string[] => {
  const lines = given.flatMap((model) => {
    const name = model.modelName;
    const prices = pricesOf(model);
    if (prices[0] === null || prices[1] === null)
      return [`${name}: left out, without input and output`];
    const row = findRow(table, name);
    if (row !== undefined) return changeRow(row, prices);
    const [, vendor] = byPrefix.find(([prefix]) => prefix.test(name)) ?? [];
    if (vendor === undefined) return [`${name}: left out, of no vendor that is known`];
    table[vendor].push([name, ...trimmed(prices)]);
    return [`${name}: added with ${trimmed(prices).join(' ')}`];
  });
  table.asOf = day;
  return lines;
};

const listText = (list: readonly unknown[]): string => JSON.stringify(list).replaceAll(',', ', ');

const rowsText = (rows: readonly PriceRow[]): string =>
  `[\n${rows.map((row) => `    ${listText(row)}`).join(',\n')}\n  ]`;

const longText = (long: PriceTable['long']): string =>
  `{\n${Object.entries(long)
    .map(([name, list]) => `    ${JSON.stringify(name)}: ${listText(list)}`)
    .join(',\n')}\n  }`;

const otherText = (other: PriceTable['other']): string =>
  JSON.stringify(other, null, 2).replaceAll('\n', '\n  ');

/** Returns the table as JSON with one row per line. */
export const writeTable = (table: PriceTable): string =>
  [
    `{\n  "asOf": ${JSON.stringify(table.asOf)},\n`,
    ...vendors.map((vendor) => `  "${vendor}": ${rowsText(table[vendor])},\n`),
    `  "long": ${longText(table.long)},\n  "other": ${otherText(table.other)}\n}\n`,
  ].join('');

if (import.meta.main) {
  const [file] = process.argv.slice(2);
  if (file === undefined) throw new Error('name the file: make prices FILE=<file>');
  const place = new URL('../../src/observability/model-prices.json', import.meta.url);
  const table = JSON.parse(readFileSync(place, 'utf8')) as PriceTable;
  const read = JSON.parse(readFileSync(file, 'utf8')) as Given[] | { data: Given[] };
  const given = Array.isArray(read) ? read : read.data;
  for (const line of refreshPrices(table, given, new Date().toISOString().slice(0, 10))) {
    console.log(line);
  }
  writeFileSync(place, writeTable(table));
}
