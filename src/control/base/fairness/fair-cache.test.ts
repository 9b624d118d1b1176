import { describe, expect, it } from 'vitest';
import { createFairCache } from './fair-cache.ts';

const cacheOf = (mostBytes: number) => {
  const cache = createFairCache<string>(mostBytes);
  const keep = (owner: string, key: string, bytes = 10) =>
    cache.keep({ key, owner, bytes, value: `${key} of ${owner}` });
  const kept = (...keys: string[]) => keys.filter((key) => cache.get(key) !== undefined);
  return { ...cache, keep, kept };
};

describe('a cache that several owners share', () => {
  it('holds no more bytes than its limit', () => {
    const cache = cacheOf(100);
    for (let index = 0; index < 1_000; index += 1) cache.keep('a', `a${index}`, 7);
    expect(cache.bytes()).toBeLessThanOrEqual(100);
    expect(cache.kept('a0', 'a999')).toEqual(['a999']);
  });

  it('drops the least recently used entry', () => {
    const cache = cacheOf(30);
    for (const key of ['x', 'y', 'z']) cache.keep('a', key);
    cache.get('x');
    cache.keep('a', 'w');
    expect(cache.kept('w', 'x', 'y', 'z')).toEqual(['w', 'x', 'z']);
  });

  it('keeps the entries of one owner while another adds more and more', () => {
    const cache = cacheOf(100);
    for (const key of ['b1', 'b2', 'b3']) cache.keep('b', key);
    for (let index = 0; index < 1_000; index += 1) cache.keep('a', `a${index}`);
    expect(cache.kept('b1', 'b2', 'b3')).toEqual(['b1', 'b2', 'b3']);
    expect(cache.kept('a999', 'a998')).toEqual(['a999', 'a998']);
  });

  it('leaves a share to an owner that uses the cache later', () => {
    const cache = cacheOf(100);
    for (let index = 0; index < 20; index += 1) cache.keep('a', `a${index}`);
    for (let index = 0; index < 5; index += 1) cache.keep('b', `b${index}`);
    expect(cache.kept('b0', 'b1', 'b2', 'b3', 'b4')).toHaveLength(5);
    expect(cache.kept('a15', 'a16', 'a17', 'a18', 'a19')).toHaveLength(5);
  });

  it('does not cache a value that would take most of its space', () => {
    const cache = cacheOf(100);
    cache.keep('b', 'small');
    cache.keep('a', 'large', 60);
    expect(cache.kept('small', 'large')).toEqual(['small']);
  });

  it('replaces the value of a key that is cached again', () => {
    const cache = cacheOf(100);
    cache.keep('a', 'x', 10);
    cache.keep('b', 'x', 20);
    expect(cache.bytes()).toBe(20);
    expect(cache.get('x')).toBe('x of b');
  });
});
