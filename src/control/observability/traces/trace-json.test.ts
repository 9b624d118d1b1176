import { expect, it } from 'vitest';
import { writePricing } from '#observability/pricing.ts';
import { ObservationView, TraceView } from '#wire/public-api/observability/trace.ts';
import type { ObservationRow } from '../../db/observability/observation-reads.ts';
import type { ShownTraceRow } from '../../db/observability/trace-reads.ts';
import { writeObservation } from './observation-json.ts';
import { writeTrace } from './trace-json.ts';

const odd = 'a"b\\c\n\u0000é\u{1f600}';

const observation = {
  id: 'o',
  traceId: 't',
  type: 'SPAN',
  startTime: '2026-03-01 12:00:00.5',
  createdAt: '2026-03-01 12:00:01',
} as const;
const nothing = Object.fromEntries(
  [
    ...['parentId', 'name', 'environment', 'endTime', 'completionStartTime', 'level', 'version'],
    ...['statusMessage', 'model', 'modelParametersJson', 'usageJson', 'costJson', 'inputUsage'],
    ...['outputUsage', 'totalUsage', 'inputCost', 'outputCost', 'totalCost', 'promptName'],
    ...['promptVersion', 'pricingJson', 'updatedAt', 'input', 'output', 'metadata', 'isCut'],
  ].map((name) => [name, null]),
);
const observed = (row: Partial<ObservationRow>) =>
  JSON.parse(writeObservation({ ...nothing, ...observation, ...row } as ObservationRow, 'prj-1'));

it('writeObservation writes every member of an observation that has few fields', () => {
  const view = observed({});
  const members = Object.keys(ObservationView.properties).filter((name) => name !== 'omitted');
  expect(Object.keys(view)).toEqual(members);
  expect(view).toMatchObject({
    id: 'o',
    projectId: 'prj-1',
    parentObservationId: null,
    environment: 'default',
    startTime: '2026-03-01T12:00:00.500Z',
    endTime: null,
    createdAt: '2026-03-01T12:00:01.000Z',
    updatedAt: '2026-03-01T12:00:01.000Z',
    metadata: {},
    level: 'DEFAULT',
    modelParameters: {},
    usageDetails: {},
    costDetails: {},
    usage: { unit: 'TOKENS', input: 0, output: 0, total: 0 },
    totalTokens: 0,
    modelId: null,
    calculatedTotalCost: null,
    latency: null,
  });
});

it('writeObservation writes an observation with all fields, whatever characters its texts contain', () => {
  const usageJson = '{"input":3,"output":4,"total":7}';
  const pricing = {
    modelId: odd,
    tierId: 'tier',
    tierName: odd,
    inputPrice: 1e-7,
    outputPrice: 2,
    totalPrice: null,
    cost: { input: 3e-7, output: 8, total: 8.0000003 },
    attributes: [],
  };
  const view = observed({
    ...{ parentId: odd, name: odd, environment: odd, statusMessage: odd, version: odd, model: odd },
    endTime: '2026-03-01 12:00:01.75',
    completionStartTime: '2026-03-01 12:00:00.625',
    updatedAt: '2026-03-02 00:00:00',
    input: '"x"',
    output: '[1, {"a": null}]',
    metadata: '{"m":1}',
    modelParametersJson: '{"t":0.5}',
    usageJson,
    ...{ inputUsage: '3', outputUsage: '4', totalUsage: '7' },
    ...{ inputCost: 3e-7, outputCost: 8, totalCost: 8.0000003 },
    pricingJson: writePricing(pricing),
    ...{ promptName: odd, promptVersion: 2, isCut: true },
  });
  expect(Object.keys(view)).toEqual(Object.keys(ObservationView.properties));
  for (const name of ['parentObservationId', 'name', 'environment', 'statusMessage', 'version']) {
    expect(view[name]).toBe(odd);
  }
  expect(view).toMatchObject({
    ...{ model: odd, modelId: odd, usagePricingTierName: odd, promptName: odd, promptVersion: 2 },
    endTime: '2026-03-01T12:00:01.750Z',
    completionStartTime: '2026-03-01T12:00:00.625Z',
    updatedAt: '2026-03-02T00:00:00.000Z',
    ...{ input: 'x', output: [1, { a: null }], metadata: { m: 1 }, modelParameters: { t: 0.5 } },
    usageDetails: { input: 3, output: 4, total: 7 },
    costDetails: pricing.cost,
    usage: { unit: 'TOKENS', input: 3, output: 4, total: 7 },
    ...{ promptTokens: 3, completionTokens: 4, totalTokens: 7 },
    ...{ inputPrice: 1e-7, outputPrice: 2, totalPrice: null },
    ...{ calculatedInputCost: 3e-7, calculatedOutputCost: 8, calculatedTotalCost: 8.0000003 },
    ...{ latency: 1.25, timeToFirstToken: 0.125 },
    omitted: ['input', 'output', 'metadata'],
  });
});

it('writeObservation writes the costs that the client sent if the observation has no prices of a model', () => {
  const costJson = '{"input":1,"total":1}';
  const view = observed({ costJson, inputCost: 1, outputCost: 0, totalCost: 1 });
  expect(view).toMatchObject({ costDetails: { input: 1, total: 1 }, usageDetails: {} });
  expect(view).toMatchObject({ calculatedInputCost: 1, calculatedOutputCost: 0, totalTokens: 0 });
});

it('writeObservation writes the start in place of an end that precedes it', () => {
  const view = observed({ endTime: '2026-03-01 11:00:00' });
  expect([view.endTime, view.latency]).toEqual([view.startTime, 0]);
});

it('writeTrace writes every member of a trace, whatever characters its texts contain', () => {
  const row: ShownTraceRow = {
    id: 'a/b "c"',
    timestamp: '2026-03-01 12:00:00',
    ...{ name: odd, userId: odd, sessionId: odd, release: odd, version: odd, externalId: odd },
    ...{ environment: null, public: null, tags: null, updatedAt: null },
    createdAt: '2026-03-01 12:00:01',
    ...{ input: null, output: '"x"', metadata: null, isCut: null },
  };
  const view = JSON.parse(writeTrace(row, 'prj-1'));
  const hanging = ['observations', 'scores', 'totalCost', 'latency', 'omitted'];
  const members = Object.keys(TraceView.properties).filter((name) => !hanging.includes(name));
  expect(Object.keys(view).sort()).toEqual(members.sort());
  for (const name of ['name', 'userId', 'sessionId', 'release', 'version', 'externalId']) {
    expect(view[name]).toBe(odd);
  }
  expect(view).toMatchObject({
    id: 'a/b "c"',
    ...{ environment: 'default', public: false, bookmarked: false, tags: [], metadata: {} },
    ...{ input: null, output: 'x', updatedAt: '2026-03-01T12:00:01.000Z' },
    htmlPath: '/project/prj-1/traces/a%2Fb%20%22c%22',
  });
  const known = { ...row, tags: [odd, ''], public: true, environment: odd, isCut: true };
  expect(JSON.parse(writeTrace(known, 'prj-1'))).toMatchObject({
    ...{ tags: [odd, ''], public: true, environment: odd },
    omitted: ['input', 'output', 'metadata'],
  });
});
