import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type PriceTable, refreshPrices, writeTable } from '../../tools/docs/model-prices.ts';

const file = new URL('../../src/observability/model-prices.json', import.meta.url);
const tableOf = (): PriceTable => JSON.parse(readFileSync(file, 'utf8'));

const model = (modelName: string, prices: Record<string, number>) => ({
  modelName,
  pricingTiers: [
    { isDefault: false, prices: { input: 1, output: 1 } },
    { isDefault: true, prices },
  ],
});

describe('the table of prices', () => {
  it('adopts only changed prices and new models from a file', () => {
    const table = tableOf();
    const lines = refreshPrices(
      table,
      [
        model('gpt-4o', { input: 2e-6, output: 1e-5, input_cached_tokens: 1.25e-6 }),
        model('claude-sonnet-4-5-20250929', { input: 3e-6, output: 1.5e-5 }),
        model('claude-opus-9', { input: 1e-6, output: 2e-6, input_cache_creation: 1.25e-6 }),
        model('text-embedding-9', { total: 2e-8 }),
        model('mystery-1', { input: 1e-6, output: 2e-6 }),
        model('gpt-9', { output: 2e-6 }),
      ],
      '2027-01-02',
    );
    expect(lines).toEqual([
      'gpt-4o: 2.5 10 1.25 → 2 10 1.25',
      'claude-opus-9: added with 1 2  1.25',
      'text-embedding-9: added with 0.02 0',
      'mystery-1: left out, of no vendor that is known',
      'gpt-9: left out, without input and output',
    ]);
    expect(table.asOf).toBe('2027-01-02');
    expect(table.openai.find(([name]) => name === 'gpt-4o')).toEqual(['gpt-4o', 2, 10, 1.25]);
    expect(table.anthropic.at(-1)).toEqual(['claude-opus-9', 1, 2, null, 1.25]);
    const written = JSON.parse(writeTable(table));
    expect(written).toEqual(table);
    expect(refreshPrices(written, [], '2027-01-02')).toEqual([]);
  });

  it('is formatted in the repository as the script writes it', () => {
    expect(writeTable(tableOf())).toBe(readFileSync(file, 'utf8'));
  });
});
