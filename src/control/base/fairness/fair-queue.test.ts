import { describe, expect, it } from 'vitest';
import { createFairQueue } from './fair-queue.ts';

const queueOf = (queued = 8, queuedOfProject = 8, runningOfProject = 1) =>
  createFairQueue<string>({ queued, queuedOfProject, runningOfProject });

/** Starts and ends the queued jobs one after another until the queue is empty. */
const drain = (queue: ReturnType<typeof queueOf>): string[] => {
  const done: string[] = [];
  for (let entry = queue.next(); entry !== undefined; entry = queue.next()) {
    done.push(entry);
    queue.end(entry.charAt(0));
  }
  return done;
};

describe('a fair queue', () => {
  it('serves projects in turn, and the entries of each project in order', () => {
    const queue = queueOf();
    for (const entry of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) queue.add(entry.charAt(0), entry);
    expect(drain(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('skips a project that has reached its limit of running jobs', () => {
    const queue = queueOf();
    for (const entry of ['a1', 'a2', 'b1']) queue.add(entry.charAt(0), entry);
    expect([queue.next(), queue.next(), queue.next()]).toEqual(['a1', 'b1', undefined]);
    expect([queue.begin('a'), queue.begin('c')]).toEqual([false, true]);
    queue.end('a');
    expect(queue.next()).toBe('a2');
  });

  it('is full for a project that has its share queued, but not for other projects', () => {
    const queue = queueOf(8, 2);
    expect(['a1', 'a2', 'a3'].map((entry) => queue.add('a', entry).kind)).toEqual([
      'added',
      'added',
      'full',
    ]);
    expect(queue.add('b', 'b1')).toEqual({ kind: 'added' });
  });

  it('drops the last job of the project with most queued jobs if a project with fewer adds a job', () => {
    const queue = queueOf(4);
    for (const entry of ['a1', 'a2', 'a3', 'a4']) queue.add('a', entry);
    expect(queue.add('b', 'b1')).toEqual({ kind: 'displaced', entry: 'a4' });
    expect(queue.add('b', 'b2')).toEqual({ kind: 'displaced', entry: 'a3' });
    expect(queue.add('b', 'b3')).toEqual({ kind: 'full' });
    expect(queue.add('a', 'a5')).toEqual({ kind: 'full' });
    expect(drain(queue)).toEqual(['a1', 'b1', 'a2', 'b2']);
  });

  it('removes a queued job, and returns the number of queued jobs', () => {
    const queue = queueOf();
    for (const entry of ['a1', 'b1']) queue.add(entry.charAt(0), entry);
    expect(queue.remove('a', 'a1')).toBe(true);
    expect(queue.remove('a', 'a1')).toBe(false);
    expect([queue.size(), queue.size('a'), queue.size('b')]).toEqual([1, 0, 1]);
    expect(queue.clear()).toEqual(['b1']);
    expect(queue.next()).toBeUndefined();
  });
});
