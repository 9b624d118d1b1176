import { expect, it } from 'vitest';
import { createDiskSpace } from './disk-space.ts';

const full = () => Promise.reject(Object.assign(new Error('no space left'), { code: '53100' }));
const fine = async () => 'done';

const start = () => {
  let nowMs = 0;
  const diskSpace = createDiskSpace(() => nowMs);
  const fail = (name: string) =>
    expect(diskSpace.note(name, full)).rejects.toThrow('no space left');
  return { diskSpace, fail, pass: (ms: number) => (nowMs += ms) };
};

it('check reports a full disk until the statement that failed because of it succeeds', async () => {
  const { diskSpace, fail } = start();
  diskSpace.check();
  await fail('insert_call');
  expect(() => diskSpace.check()).toThrow('the disk of the database is full');
  await diskSpace.note('find_keys', fine);
  expect(() => diskSpace.check()).toThrow('the disk of the database is full');
  expect(await diskSpace.note('insert_call', fine)).toBe('done');
  diskSpace.check();
});

it('check reports a full disk for at most 10 s after the last write', async () => {
  const { diskSpace, fail, pass } = start();
  await fail('commit');
  pass(9_999);
  expect(() => diskSpace.check()).toThrow('the disk of the database is full');
  pass(1);
  diskSpace.check();
});

it('wasFull reports a full disk to metrics for two minutes, even if later writes succeed', async () => {
  const { diskSpace, fail, pass } = start();
  expect(diskSpace.wasFull()).toBe(false);
  await fail('insert_call');
  await diskSpace.note('insert_call', fine);
  pass(119_999);
  expect(diskSpace.wasFull()).toBe(true);
  pass(1);
  expect(diskSpace.wasFull()).toBe(false);
});

it('no full disk is reported after other failures', async () => {
  const { diskSpace } = start();
  const refused = () => Promise.reject(Object.assign(new Error('too many'), { code: '53300' }));
  await expect(diskSpace.note('insert_call', refused)).rejects.toThrow('too many');
  diskSpace.check();
});
