import { expect, it } from 'vitest';
import { createDiskSpace } from './disk-space.ts';

const full = () => Promise.reject(Object.assign(new Error('no space left'), { code: '53100' }));
const fine = async () => 'done';

const start = () => {
  let nowMs = 0;
  const room = createDiskSpace(() => nowMs);
  const fail = (name: string) => expect(room.note(name, full)).rejects.toThrow('no space left');
  return { room, fail, pass: (ms: number) => (nowMs += ms) };
};

it('tells of a full disk until the write that found it goes through', async () => {
  const { room, fail } = start();
  room.check();
  await fail('insert_call');
  expect(() => room.check()).toThrow('the disk of the database is full');
  await room.note('find_keys', fine);
  expect(() => room.check()).toThrow('the disk of the database is full');
  expect(await room.note('insert_call', fine)).toBe('done');
  room.check();
});

it('tells of a full disk for 10 s where nothing is written any more', async () => {
  const { room, fail, pass } = start();
  await fail('commit');
  pass(9_999);
  expect(() => room.check()).toThrow('the disk of the database is full');
  pass(1);
  room.check();
});

it('remembers a full disk for metrics for two minutes, whatever goes through meanwhile', async () => {
  const { room, fail, pass } = start();
  expect(room.wasFull()).toBe(false);
  await fail('insert_call');
  await room.note('insert_call', fine);
  pass(119_999);
  expect(room.wasFull()).toBe(true);
  pass(1);
  expect(room.wasFull()).toBe(false);
});

it('takes no other failure for a full disk', async () => {
  const { room } = start();
  const refused = () => Promise.reject(Object.assign(new Error('too many'), { code: '53300' }));
  await expect(room.note('insert_call', refused)).rejects.toThrow('too many');
  room.check();
});
