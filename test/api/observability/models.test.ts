/**
 * Tests models: built-in ones and those of projects, their price tiers and patterns, and the resulting cost of
 * observations.
 */

import { RE2JS } from 're2js';
import { beforeAll, describe, expect, it } from 'vitest';
import { builtInModels } from '#observability/built-in-models.ts';
import { basicAuthorization } from '#wire/client.ts';
import { createAsker } from '../../support/control/client.ts';
import type { TestControl } from '../../support/control/control.ts';
import { shareControl } from '../../support/control/shared-control.ts';

let control: TestControl;

type Model = { id: string; modelName: string; pricingTiers: object[]; [member: string]: unknown };
type Body = {
  [member: string]: unknown;
  id: string;
  data: Model[];
  meta: { totalItems: number; nextCursor?: string };
};

const ask = async (method: string, path: string, body?: object) => {
  const as = basicAuthorization(control.publicKey, control.secretKey);
  const answer = await createAsker(control)(method, path, {
    as,
    ...(body === undefined ? {} : { body }),
  });
  return { status: answer.status, body: answer.body as Body };
};

const must = async (method: string, path: string, body?: object): Promise<Body> => {
  const answer = await ask(method, path, body);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body;
};

let sent = 0;
/** Sends an event of a generation, and returns the generation as stored after it. */
const generation = async (body: object, type = 'generation-create') => {
  sent += 1;
  const id = (body as { id?: string }).id ?? `o${sent}`;
  const event = {
    ...{ id: `event ${sent}`, type, timestamp: new Date(1_700_000_000_000 + sent).toISOString() },
    body: { traceId: 't', ...body, id },
  };
  const answer = await ask('POST', '/ingestion', { batch: [event] });
  expect([answer.status, answer.body.errors]).toEqual([207, []]);
  return must('GET', `/observations/${id}`);
};

beforeAll(async () => {
  control = await shareControl();
});

describe('built-in models', () => {
  it.each([
    ['gpt-4o-2024-08-06', 'gpt-4o'],
    ['gpt-4o-2024-05-13', 'gpt-4o-2024-05-13'],
    ['gpt-5.6-terra', 'gpt-5.6-terra'],
    ['claude-opus-4-5-20251101', 'claude-opus-4-5'],
    ['claude-sonnet-5', 'claude-sonnet-5'],
    ['openai/gpt-4o-mini', 'gpt-4o-mini'],
    ['anthropic.claude-sonnet-4-20250514-v1:0', 'claude-sonnet-4'],
    ['claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
    ['claude-haiku-4-5@20251001', 'claude-haiku-4-5'],
    ['gemini-2.5-flash-lite', 'gemini-2.5-flash-lite'],
    ['us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5'],
    ['global.anthropic.claude-opus-4-6-v1', 'claude-opus-4-6'],
    ['claude-sonnet-4-5[1m]', 'claude-sonnet-4-5'],
    ['claude-opus-4-8[1m]', 'claude-opus-4-8'],
    ['bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5'],
    ['vertex_ai/claude-sonnet-4-5@20250929', 'claude-sonnet-4-5'],
    ['gemini/gemini-2.5-flash', 'gemini-2.5-flash'],
    ['vertex_ai/gemini-2.5-flash', 'gemini-2.5-flash'],
    ['openrouter/openai/gpt-4o', 'gpt-4o'],
    ['anthropic/claude-sonnet-4.5', 'claude-sonnet-4-5'],
    ['anthropic/claude-3.5-sonnet', 'claude-3-5-sonnet'],
    ['anthropic/claude-3.7-sonnet:thinking', 'claude-3-7-sonnet'],
    ['claude-4.5-haiku', 'claude-haiku-4-5'],
    ['claude-3-5-sonnet-V2@20241022', 'claude-3-5-sonnet'],
    [
      'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
      'claude-sonnet-4-5',
    ],
    ['projects/p/locations/global/publishers/google/models/gemini-2.5-pro', 'gemini-2.5-pro'],
    ['openai:gpt-5-mini', 'gpt-5-mini'],
    ['azure/gpt-35-turbo', 'gpt-3.5-turbo'],
    ['gpt-3.5-turbo-0613', 'gpt-3.5-turbo-0613'],
    ['ft:gpt-3.5-turbo-1106:org::id', 'ft:gpt-3.5-turbo-1106'],
    ['gpt-4-0613', 'gpt-4-0613'],
    ['claude-2.1', 'claude-2.1'],
    ['claude-instant-1.2', 'claude-instant-1.2'],
    ['text-bison@002', 'text-bison'],
    ['gemini-1.0-pro-latest', 'gemini-1.0-pro-latest'],
    ['gemini-2x5-flash', undefined],
    ['my-gpt-4o', undefined],
    ['ft:gpt-4o', undefined],
    ['deepseek/deepseek-r1:free', undefined],
    ['openai/gpt-4o:free', undefined],
    ['claude-sonnet-4-5-of-ours', undefined],
  ])('match %s by at most one of their patterns', (name, known) => {
    const found = builtInModels.filter(({ matchPattern }) =>
      RE2JS.compile(matchPattern).test(name),
    );
    expect(found.map(({ modelName }) => modelName)).toEqual(known === undefined ? [] : [known]);
    for (const { text } of found) expect(name.toLowerCase()).toContain(text);
  });

  it('have the published prices, to the digit', () => {
    const tier = (id: string) => builtInModels.find((one) => one.id === id)?.tiers[0];
    expect(tier('builtin-claude-3-5-haiku')?.prices.input).toBe(8e-7);
    const prices = builtInModels
      .flatMap(({ tiers }) => tiers)
      .flatMap((one) => Object.values(one.prices));
    expect(prices.filter((price) => `${price}`.length > 11)).toEqual([]);
  });

  it('are listed by name and read, and cannot be deleted', async () => {
    const { data: first100, meta } = await must('GET', '/models?limit=100');
    const { data: others } = await must('GET', '/models?limit=100&page=2');
    const data = [...first100, ...others];
    expect(meta.totalItems).toBe(builtInModels.length);
    expect(data.map(({ modelName }) => modelName)).toEqual(
      builtInModels.map(({ modelName }) => modelName).sort(),
    );
    const [first] = data;
    expect(first).toMatchObject({ isLangfuseManaged: true, unit: 'TOKENS', startDate: null });
    expect(await must('GET', `/models/${first?.id}`)).toEqual(first);
    expect((await ask('DELETE', `/models/${first?.id}`)).status).toBe(404);
  });

  it('price reported usage, with cached input and reasoning', async () => {
    const usageDetails = {
      prompt_tokens: 1_000,
      completion_tokens: 100,
      total_tokens: 1_100,
      prompt_tokens_details: { cached_tokens: 400 },
      completion_tokens_details: { reasoning_tokens: 60 },
    };
    const result = await generation({ model: 'gpt-4o', usageDetails });
    expect(result).toMatchObject({
      modelId: 'builtin-gpt-4o',
      usagePricingTierName: 'Standard',
      inputPrice: 2.5e-6,
      outputPrice: 1e-5,
      totalPrice: null,
    });
    expect(result.calculatedInputCost).toBeCloseTo(600 * 2.5e-6 + 400 * 1.25e-6, 12);
    expect(result.calculatedOutputCost).toBeCloseTo(100 * 1e-5, 12);
    expect(result.calculatedTotalCost).toBeCloseTo(0.003, 12);
  });

  it('price a long input by a tier of its own', async () => {
    const of = async (input: number) =>
      generation({ model: 'claude-sonnet-4-5', usageDetails: { input, output: 10 } });
    expect(await of(200_000)).toMatchObject({ usagePricingTierName: 'Standard', inputPrice: 3e-6 });
    expect(await of(200_001)).toMatchObject({
      usagePricingTierName: 'Long context',
      inputPrice: 6e-6,
    });
  });
});

describe('a model of the project', () => {
  it('takes precedence over a built-in model, and applies from its creation to its deletion', async () => {
    const body = { modelName: 'ours', matchPattern: '(?i)^gpt-5$', inputPrice: 1, outputPrice: 2 };
    const made = await must('POST', '/models', { ...body, unit: null, pricingTiers: null });
    expect(made).toMatchObject({
      ...{ modelName: 'ours', inputPrice: 1, outputPrice: 2, totalPrice: null, unit: null },
      ...{ isLangfuseManaged: false, tokenizerConfig: null },
      prices: { input: { price: 1 }, output: { price: 2 } },
      pricingTiers: [
        {
          name: 'Standard',
          isDefault: true,
          priority: 0,
          conditions: [],
          prices: { input: 1, output: 2 },
        },
      ],
    });
    expect(made).not.toHaveProperty('projectId');
    expect(await must('GET', `/models/${made.id}`)).toEqual(made);
    const usageDetails = { input: 3, output: 4 };
    const before = await generation({ id: 'kept', model: 'GPT-5', usageDetails });
    expect(before).toMatchObject({ modelId: made.id, calculatedTotalCost: 11 });

    await must('DELETE', `/models/${made.id}`);
    expect((await ask('DELETE', `/models/${made.id}`)).status).toBe(404);
    expect(await generation({ model: 'gpt-5', usageDetails })).toMatchObject({
      modelId: 'builtin-gpt-5',
    });
    // A stored price stays until the usage changes.
    expect(await must('GET', '/observations/kept')).toEqual(before);
    const named = await generation({ id: 'kept', name: 'x' }, 'generation-update');
    expect(named).toMatchObject({ name: 'x', modelId: made.id, calculatedTotalCost: 11 });
    const used = { id: 'kept', usageDetails: { input: 1_000_000 } };
    expect(await generation(used, 'generation-update')).toMatchObject({
      ...{ modelId: 'builtin-gpt-5', calculatedTotalCost: 1.25 },
    });
  });

  it('prices a model and usage that come in separate events, and the cost is in the daily sums', async () => {
    await generation({ id: 'apart', model: 'gpt-4.1', startTime: '2026-04-01T00:00:00Z' });
    const result = await generation(
      { id: 'apart', usageDetails: { input: 500_000, output: 250_000 } },
      'generation-update',
    );
    expect(result.calculatedTotalCost).toBeCloseTo(3, 9);
    const [row] = await control.sql<{ cost: string }>(
      `select sum(total_cost)::text as cost from daily_usage where day = '2026-04-01'`,
    );
    expect(row?.cost).toBe('3000000000000');
  });

  it('applies from its start date on, by the start time of the observation', async () => {
    const price = { matchPattern: '^dated$', totalPrice: 1 };
    await must('POST', '/models', { ...price, modelName: 'dated-1' });
    await must('POST', '/models', {
      ...{ ...price, modelName: 'dated-2', totalPrice: 5, startDate: '2026-02-01T00:00:00Z' },
    });
    const costAt = async (startTime: string) =>
      (await generation({ model: 'dated', startTime, usageDetails: { input: 2, output: 1 } }))
        .calculatedTotalCost;
    expect(await costAt('2026-01-31T23:59:59.999Z')).toBe(3);
    expect(await costAt('2026-02-01T00:00:00.000Z')).toBe(15);
  });

  it('with a start date without a time applies from the beginning of that day', async () => {
    const made = await must('POST', '/models', {
      ...{ modelName: 'dated-3', matchPattern: '^dated-3$', totalPrice: 1 },
      startDate: '2026-02-01',
    });
    expect(made).toMatchObject({ startDate: '2026-02-01T00:00:00.000Z' });
  });

  it('does not replace a reported cost', async () => {
    const result = await generation({
      ...{ model: 'gpt-4o', usageDetails: { input: 10 }, costDetails: { input: 7 } },
    });
    expect(result).toMatchObject({
      costDetails: { input: 7, total: 7 },
      calculatedTotalCost: 7,
      modelId: 'builtin-gpt-4o',
    });
  });

  it('has tiers, and the first by priority whose conditions all hold is used', async () => {
    const condition = (value: number) => ({
      ...{ usageDetailPattern: '^INPUT', operator: 'gte', value, caseSensitive: false },
    });
    const tier = (name: string, priority: number, input: number, conditions: object[] = []) => ({
      ...{ name, priority, conditions, isDefault: priority === 0, prices: { input } },
    });
    const pricingTiers = [
      tier('usual', 0, 1),
      tier('large', 2, 3, [condition(100)]),
      tier('huge', 1, 5, [condition(100), condition(1_000)]),
    ];
    await must('POST', '/models', { modelName: 'tiered', matchPattern: '^tiered-', pricingTiers });
    const of = async (usageDetails: object) => {
      const result = await generation({ model: 'tiered-x', usageDetails });
      return [result.usagePricingTierName, result.calculatedTotalCost];
    };
    expect(await of({ input: 99 })).toEqual(['usual', 99]);
    expect(await of({ input: 60, input_cached: 40 })).toEqual(['large', 180]);
    expect(await of({ input: 1_000 })).toEqual(['huge', 5_000]);
    expect(await of({ other: 5 })).toEqual(['usual', null]);
  });

  it('has tiers with conditions on parameters and metadata, also if parameters and metadata are reported later', async () => {
    const tier = (name: string, priority: number, input: number, conditions: object[]) => ({
      ...{ name, priority, conditions, isDefault: priority === 0, prices: { input } },
    });
    const among = (source: string, key: string, ...values: string[]) => ({
      ...{ source, key, operator: 'in', values },
    });
    const pricingTiers = [
      tier('usual', 0, 2, []),
      tier('flex', 1, 1, [among('model_parameters', 'service_tier', 'flex', 'batch')]),
      tier('far', 2, 3, [
        among('metadata', 'region', 'eu'),
        { usageDetailPattern: '^input', operator: 'gt', value: 5, caseSensitive: false },
      ]),
    ];
    const named = { modelName: 'served', matchPattern: '^served$', pricingTiers };
    const { id, ...made } = await must('POST', '/models', named);
    expect(made.pricingTiers).toMatchObject(pricingTiers);
    const of = async (body: object, type?: string) => {
      const result = { model: 'served', usageDetails: { input: 10 }, ...body };
      const { usagePricingTierName, calculatedTotalCost } = await generation(result, type);
      return [usagePricingTierName, calculatedTotalCost];
    };
    expect(await of({})).toEqual(['usual', 20]);
    expect(await of({ modelParameters: { service_tier: 'batch' } })).toEqual(['flex', 10]);
    expect(await of({ modelParameters: { service_tier: 'FLEX' } })).toEqual(['usual', 20]);
    expect(await of({ modelParameters: { in: { service_tier: 'flex' } } })).toEqual(['usual', 20]);
    expect(await of({ metadata: { region: 'eu' } })).toEqual(['far', 30]);
    expect(await of({ metadata: { region: ['eu'] } })).toEqual(['usual', 20]);
    const few = { metadata: { region: 'eu' }, usageDetails: { input: 5 } };
    expect(await of(few)).toEqual(['usual', 10]);
    const later = { id: 'served-later', usageDetails: { input: 7 } };
    expect(await of(later)).toEqual(['usual', 14]);
    expect(await of({ ...later, metadata: { other: 'eu' } }, 'generation-update')).toEqual([
      ...['usual', 14],
    ]);
    expect(await of({ ...later, metadata: { region: 'eu' } }, 'generation-update')).toEqual([
      ...['far', 21],
    ]);
    await must('DELETE', `/models/${id}`);
  });

  const plain = { modelName: 'm', matchPattern: '^m$', inputPrice: 1 };
  const tiers = (...pricingTiers: object[]) => ({
    ...{ modelName: 'm', matchPattern: '^m$', pricingTiers },
  });
  const usual = {
    name: 'usual',
    isDefault: true,
    priority: 0,
    conditions: [],
    prices: { input: 1 },
  };
  const holds = { usageDetailPattern: '.', operator: 'gt', value: 1 };
  const isIn = { source: 'metadata', key: 'region', operator: 'in', values: ['eu'] };
  const other = { ...usual, name: 'o', isDefault: false, priority: 1, conditions: [holds] };
  it.each([
    [{}, 'modelName'],
    [{ ...plain, modelName: null }, 'modelName'],
    [{ ...plain, modelName: ' ' }, 'modelName'],
    [{ ...plain, modelName: 7 }, 'modelName'],
    [{ ...plain, modelName: 'x'.repeat(201) }, 'modelName'],
    [{ ...plain, modelName: 'dated-1' }, 'modelName'],
    [{ ...plain, matchPattern: '(' }, 'matchPattern'],
    [{ ...plain, matchPattern: '(a)\\1' }, 'matchPattern'],
    [{ ...plain, matchPattern: '(?:a{1000}){1000}' }, 'matchPattern'],
    [{ ...plain, matchPattern: 'a'.repeat(501) }, 'matchPattern'],
    [{ ...plain, inputPrice: -1 }, 'inputPrice'],
    [{ ...plain, inputPrice: '1' }, 'inputPrice'],
    [{ ...plain, totalPrice: 1 }, 'totalPrice'],
    [{ ...plain, unit: 'HOURS' }, 'unit'],
    [{ ...plain, startDate: 'tomorrow' }, 'startDate'],
    [{ ...plain, startDate: '2026-13-01' }, 'startDate'],
    [{ ...plain, tokenizerConfig: 'x' }, 'tokenizerConfig'],
    [{ ...plain, pricingTiers: [usual] }, 'pricingTiers'],
    [tiers(), 'pricingTiers'],
    [tiers(other), 'pricingTiers'],
    [tiers(usual, usual), 'pricingTiers'],
    [tiers(usual, { ...other, priority: 0 }), 'pricingTiers.1'],
    [tiers(usual, { ...other, conditions: [] }), 'pricingTiers.1'],
    [tiers(usual, { ...other, prices: { output: 1 } }), 'pricingTiers'],
    [tiers({ ...usual, prices: {} }), 'pricingTiers.0.prices'],
    [
      tiers(usual, { ...other, conditions: [{ ...holds, usageDetailPattern: '[' }] }),
      'pricingTiers.1.conditions.0.usageDetailPattern',
    ],
    ...(
      [
        [{ source: 'input' }, 'source'],
        [{ key: ' ' }, 'key'],
        [{ operator: 'gt' }, 'operator'],
        [{ values: [] }, 'values'],
        [{ values: ['x'.repeat(201)] }, 'values.0'],
        [{ values: [7] }, 'values.0'],
      ] as const
    ).map(([wrong, field]): [object, string] => [
      tiers(usual, { ...other, conditions: [{ ...isIn, ...wrong }] }),
      `pricingTiers.1.conditions.0.${field}`,
    ]),
  ])('is refused with the path of the invalid field: %j', async (body, field) => {
    const { status, body: answer } = await ask('POST', '/models', body);
    const [first] = (answer.error ?? []) as { path: string[] }[];
    expect([status, first?.path]).toEqual([400, field.split('.')]);
  });

  it('may have a pattern that is expensive to match, and long model names are still stored', async () => {
    await must('POST', '/models', {
      modelName: 'dear',
      matchPattern: '[ab]*a[ab]{200}$',
      totalPrice: 1,
    });
    const names = Array.from({ length: 5 }, (_, turn) => `${'ab'.repeat(90)}${turn}`);
    for (const model of [...names, 'a'.repeat(1_000)]) {
      expect(await generation({ model, usageDetails: { input: 1 } })).toMatchObject({
        modelId: null,
      });
    }
  });
});
