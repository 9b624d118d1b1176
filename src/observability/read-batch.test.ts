/**
 * Tests the reading of single events, as clients send them: the state of a valid event, and the problem of an invalid
 * one.
 */
import { describe, expect, it } from 'vitest';
import { readBatch, readEvent } from './read-batch.ts';
import { fieldOf, metadataOf, type State } from './state.ts';

const timestamp = '2026-03-01T10:00:00.000Z';

const event = (type: string, body: object, more: object = {}) => ({
  id: 'e1',
  type,
  timestamp,
  body,
  ...more,
});

const stateOf = (type: string, body: object): State => {
  const read = readEvent(event(type, body), 0);
  if (!('content' in read) || !('state' in read.content)) throw new Error(JSON.stringify(read));
  return read.content.state;
};

const problemOf = (given: unknown): string => {
  const read = readEvent(given, 0);
  return 'problem' in read ? read.problem.error : 'none';
};

describe('an event', () => {
  it.each([
    ['no object', 7, 'an event must be an object'],
    ['without id', { type: 'trace-create', timestamp, body: {} }, 'id must be a string'],
    ['of an unknown type', event('trace-delete', {}), '"trace-delete" is not one of'],
    ['of a type by which objects inherit', event('constructor', {}), '"constructor" is not one of'],
    ['without time', event('trace-create', {}, { timestamp: 'now' }), 'timestamp must be'],
    [
      'with a time of no offset',
      event('trace-create', {}, { timestamp: '2026-03-01T10:00:00' }),
      'timestamp',
    ],
    ['without body', event('trace-create', [] as object), 'body must be an object'],
    ['with a name of no text', event('trace-create', { name: 7 }), 'body.name must be a string'],
    [
      'with a long name',
      event('trace-create', { name: 'x'.repeat(1_001) }),
      'body.name must have at most',
    ],
    ['of no level', event('span-create', { level: 'HIGH' }), 'body.level must be one of DEBUG'],
    [
      'with a time of 9999',
      event('span-create', { endTime: '9999-01-01T00:00:00Z' }),
      'body.endTime must',
    ],
    [
      'of no observation type',
      event('observation-create', { type: 'X' }),
      'body.type must be one of SPAN',
    ],
    [
      'a score of nothing',
      event('score-create', { name: 'n', value: 1 }),
      'body.traceId a score is of exactly one',
    ],
    [
      'a score of two',
      event('score-create', { name: 'n', value: 1, traceId: 't', sessionId: 's' }),
      '2 are given',
    ],
    [
      'a score without name',
      event('score-create', { value: 1, traceId: 't' }),
      'body.name must be a string',
    ],
  ])('is refused with its problem: %s', (_, given, message) => {
    expect(problemOf(given)).toContain(message);
  });

  it('does not affect the other events of its batch when it is refused', () => {
    const read = readBatch([
      event('trace-create', { id: 't' }),
      null,
      event('sdk-log', { log: 1 }),
    ]);
    expect(read.map((one) => ('content' in one ? one.content.kind : one.problem.status))).toEqual([
      'trace',
      400,
      'log',
    ]);
  });

  it('may have unknown members', () => {
    expect(problemOf(event('span-create', { id: 'o', traceId: 't', colour: 'red' }))).toBe('none');
  });

  it('gets replacements for characters that the database cannot store', () => {
    const state = stateOf('trace-create', { name: 'a\0b\ud800', tags: ['x\0'] });
    expect(fieldOf(state, 'name')).toBe('a\ufffdb\ufffd');
    expect(state.tags).toEqual(['x\ufffd']);
  });
});

describe('a null in the body of an event', () => {
  it('counts as absent in a create, and clears the field in an update', () => {
    expect(stateOf('span-create', { name: null }).values).not.toHaveProperty('name');
    expect(stateOf('span-update', { name: null }).values.name?.[1]).toBeNull();
  });

  it.each([
    [{ usage: null }, ['usageJson']],
    [{ usageDetails: null, costDetails: null }, ['usageJson', 'costJson']],
    [{ usageDetails: null, usage: { input: 1 } }, []],
    [{ promptName: null, promptVersion: null }, ['promptName', 'promptVersion']],
  ])(
    'clears usage, cost and prompt in an update if no other member gives them: %j',
    (body, cleared) => {
      const { values } = stateOf('generation-update', body);
      const isNull = Object.keys(values).filter((field) => values[field]?.[1] === null);
      expect(isNull.sort()).toEqual([...cleared].sort());
      expect(fieldOf(stateOf('generation-create', body), 'promptName')).toBeNull();
      const created = stateOf('generation-create', body).values;
      expect(Object.values(created).filter(([, value]) => value === null)).toEqual([]);
    },
  );

  it('never clears input or output', () => {
    const { values } = stateOf('generation-update', { input: null, output: null });
    expect(Object.keys(values)).toEqual(expect.not.arrayContaining(['input', 'output']));
  });
});

describe('the body of an event', () => {
  it('keeps JSON as text, and wraps metadata that is no object', () => {
    const state = stateOf('span-create', { input: { a: [1] }, output: 'text', metadata: [1] });
    expect([fieldOf(state, 'input'), fieldOf(state, 'output')]).toEqual(['{"a":[1]}', '"text"']);
    expect(metadataOf(state)).toEqual({ metadata: [1] });
  });

  it('has its environment normalized', () => {
    const words = ['Prod', 'langfuse-sdk', 'a b', 7, 'x'.repeat(50)].map((environment) =>
      fieldOf(stateOf('trace-create', { environment }), 'environment'),
    );
    expect(words).toEqual(['prod', 'sdk', 'default', 'default', 'x'.repeat(40)]);
  });

  it.each([
    [{ usage: { input: 1, output: 2, unit: 'TOKENS' } }, { input: 1, output: 2, total: 3 }],
    [
      { usage: { promptTokens: 1, completionTokens: 2, totalTokens: 9 } },
      { input: 1, output: 2, total: 9 },
    ],
    [
      { usageDetails: { input: '4', cached: 2, bad: -1, half: 0.5 } },
      { input: 4, cached: 2, total: 6 },
    ],
    [
      {
        usageDetails: {
          prompt_tokens: 10,
          completion_tokens: 5,
          total_tokens: 15,
          prompt_tokens_details: { cached_tokens: 4 },
          completion_tokens_details: { reasoning_tokens: 2 },
        },
      },
      { input: 6, input_cached_tokens: 4, output: 3, output_reasoning_tokens: 2, total: 15 },
    ],
    [
      {
        usageDetails: {
          input_tokens: 3,
          output_tokens: 1,
          total_tokens: 4,
          output_tokens_details: null,
        },
      },
      { input: 3, output: 1, total: 4 },
    ],
  ])('has its usage converted to one form: %j', (body, counts) => {
    const text = fieldOf(stateOf('generation-create', body), 'usageJson');
    expect(JSON.parse(String(text))).toEqual(counts);
  });

  it('has the cost that the client sent', () => {
    const text = fieldOf(
      stateOf('generation-create', { usage: { inputCost: 1, outputCost: 0.5 } }),
      'costJson',
    );
    expect(JSON.parse(String(text))).toEqual({ input: 1, output: 0.5, total: 1.5 });
    expect(fieldOf(stateOf('generation-create', { costDetails: {} }), 'costJson')).toBeNull();
  });

  it.each([
    { costDetails: { input: 1e308, output: 0.5 } },
    { costDetails: { input: '1e400', output: 0.5 } },
    { usage: { inputCost: 1e13, outputCost: 0.5 } },
  ])('is read without a cost that is not plausible: %j', (body) => {
    const text = fieldOf(stateOf('generation-create', body), 'costJson');
    expect(JSON.parse(String(text))).toEqual({ output: 0.5, total: 0.5 });
  });
});
