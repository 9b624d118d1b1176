/**
 * Tests the names under which instrumentations report parts of the token counts: names of old and new conventions, and
 * names that only one instrumentation uses.
 */
import { describe, expect, it } from 'vitest';
import { fieldsOf } from '#test/support/control/span-fields.ts';

const usageOf = (attributes: Record<string, number | string>): unknown =>
  fieldsOf({ attributes: { 'gen_ai.operation.name': 'chat', ...attributes } }).usage;

const whole = { 'gen_ai.usage.input_tokens': 300, 'gen_ai.usage.output_tokens': 50 };
const vercel = { 'ai.usage.inputTokens': 300, 'ai.usage.outputTokens': 50 };

describe('tokens read from a cache', () => {
  it.each([
    'gen_ai.usage.cache_read.input_tokens',
    'gen_ai.usage.cache_read_input_tokens',
    'gen_ai.usage.details.cache_read_tokens',
    'gen_ai.usage.cache_read_tokens',
    'gen_ai.usage.input_cached_tokens',
    'gen_ai.usage.input_tokens.cached',
    'gen_ai.usage.details.cache_read_input_tokens',
    'gen_ai.usage.prompt_tokens_details.cached_tokens',
    'llm.token_count.prompt_details.cache_read',
    'llm.usage.cache_read_input_tokens',
    'ai.usage.cachedInputTokens',
    'ai.usage.inputTokenDetails.cacheReadTokens',
  ])('are a part of the input: %s', (name) => {
    expect(usageOf({ ...whole, [name]: 40 })).toEqual({
      ...{ input: 260, input_cached_tokens: 40, output: 50, total: 350 },
    });
  });
});

describe('tokens written to a cache', () => {
  it.each([
    'gen_ai.usage.cache_creation.input_tokens',
    'gen_ai.usage.cache_creation_input_tokens',
    'gen_ai.usage.details.cache_write_tokens',
    'gen_ai.usage.cache_write.input_tokens',
    'gen_ai.usage.cache_write_input_tokens',
    'gen_ai.usage.cache_write_tokens',
    'gen_ai.usage.input_cache_creation',
    'gen_ai.usage.input_tokens.cache_write',
    'gen_ai.usage.details.cache_creation_input_tokens',
    'llm.token_count.prompt_details.cache_write',
    'ai.usage.inputTokenDetails.cacheWriteTokens',
  ])('are a part of the input: %s', (name) => {
    expect(usageOf({ ...whole, [name]: 25 })).toEqual({
      ...{ input: 275, input_cache_creation: 25, output: 50, total: 350 },
    });
  });
});

describe('tokens of reasoning', () => {
  it.each([
    'gen_ai.usage.reasoning.output_tokens',
    'gen_ai.usage.details.reasoning_tokens',
    'gen_ai.usage.reasoning_tokens',
    'gen_ai.usage.output_tokens.reasoning',
    'gen_ai.usage.completion_tokens_details.reasoning_tokens',
    'llm.token_count.completion_details.reasoning',
    'ai.usage.reasoningTokens',
    'ai.usage.outputTokenDetails.reasoningTokens',
  ])('are a part of the output: %s', (name) => {
    expect(usageOf({ ...whole, [name]: 20 })).toEqual({
      ...{ input: 300, output: 30, output_reasoning_tokens: 20, total: 350 },
    });
  });
});

describe('other counts', () => {
  it('keep their names, and are a part of the input if the name begins with input', () => {
    const others = { 'gen_ai.usage.input_audio_tokens': 30, 'gen_ai.usage.images': '2' };
    expect(usageOf({ ...whole, ...others })).toEqual({
      ...{ input: 270, input_audio_tokens: 30, images: 2, output: 50, total: 350 },
    });
  });

  it('are counted once when two names report the same tokens', () => {
    const twice = {
      'ai.usage.cachedInputTokens': 40,
      'ai.usage.inputTokenDetails.cacheReadTokens': 40,
    };
    const left = { 'ai.usage.inputTokenDetails.noCacheTokens': 260 };
    const text = { 'ai.usage.outputTokenDetails.textTokens': 50 };
    expect(usageOf({ ...vercel, ...twice, ...left, ...text })).toEqual({
      ...{ input: 260, input_cached_tokens: 40, output: 50, total: 350 },
    });
  });

  it('do not include costs and fractions, and include counts named like inherited members of objects', () => {
    const none = {
      'gen_ai.usage.cost': 3,
      'gen_ai.usage.input_cost': 1,
      'gen_ai.usage.rate': 0.5,
      'gen_ai.usage.note': 'many',
      'gen_ai.usage.cached': 0,
    };
    const inherited = { 'gen_ai.usage.constructor': 4, 'gen_ai.usage.toString': 5 };
    expect(usageOf({ ...whole, ...none, ...inherited })).toEqual({
      ...{ input: 300, output: 50, constructor: 4, toString: 5, total: 350 },
    });
  });
});
