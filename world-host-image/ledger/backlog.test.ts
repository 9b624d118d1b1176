import { describe, expect, it } from 'vitest';
import { createBacklog } from './backlog.ts';

const filled = (count: number, most?: { entries: number; bytes: number }) => {
  const backlog = createBacklog(most);
  for (let id = 1; id <= count; id += 1) backlog.add(id, `entry ${id}`);
  return backlog;
};
const ids = (backlog: ReturnType<typeof createBacklog>, entries = 10, chars = 1_000) =>
  backlog.first({ entries, chars }).map(({ id }) => id);

describe('the backlog', () => {
  it('returns its first entries until they are removed', () => {
    const backlog = filled(5);
    expect(ids(backlog, 2)).toEqual([1, 2]);
    expect(ids(backlog, 2)).toEqual([1, 2]);
    backlog.removeTo(2);
    backlog.removeTo(1);
    expect(ids(backlog)).toEqual([3, 4, 5]);
    expect(ids(backlog, 10, 14)).toEqual([3, 4]);
    expect(ids(backlog, 10, 1)).toEqual([3]);
    backlog.removeTo(99);
    expect([ids(backlog), backlog.size()]).toEqual([[], 0]);
  });

  it('drops the oldest entries when there are too many', () => {
    expect(ids(filled(8, { entries: 3, bytes: 1_000 }))).toEqual([6, 7, 8]);
    expect(ids(filled(8, { entries: 100, bytes: 15 }))).toEqual([7, 8]);
    const wide = createBacklog({ entries: 100, bytes: 15 });
    for (const id of [1, 2, 3]) wide.add(id, 'ü'.repeat(5));
    wide.add(4, '→'.repeat(5));
    expect(ids(wide)).toEqual([3, 4]);
    const many = filled(5_000, { entries: 10, bytes: 1_000 });
    expect([many.size(), ids(many)[0]]).toEqual([10, 4_991]);
  });

  it('keeps pinned entries when it drops others', () => {
    const backlog = createBacklog({ entries: 2, bytes: 1_000 });
    for (let id = 1; id <= 9; id += 1) backlog.add(id, `entry ${id}`, id % 3 === 0);
    expect(ids(backlog)).toEqual([3, 6, 7, 8, 9]);
    expect([backlog.size(), backlog.pinnedBytes(), backlog.last()?.id]).toEqual([5, 21, 9]);
    backlog.removeTo(6);
    expect([ids(backlog), backlog.pinnedBytes()]).toEqual([[7, 8, 9], 7]);
    for (let id = 10; id <= 3_000; id += 1) backlog.add(id, `entry ${id}`, id === 1_500);
    expect(ids(backlog)).toEqual([9, 1_500, 2_999, 3_000]);
    backlog.removeTo(3_000);
    expect([backlog.size(), backlog.pinnedBytes(), backlog.last()]).toEqual([0, 0, undefined]);
    backlog.add(3_001, 'entry');
    expect(ids(backlog)).toEqual([3_001]);
  });
});
