import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { removeLeft, scratchPath } from './scratch-files.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-scratch-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const add = (name: string): string => {
  const path = join(folder, name);
  writeFileSync(path, 'x');
  return path;
};

it('scratch files of ended programs are removed, those of running programs are not', async () => {
  const gone = spawnSync(process.execPath, ['-e', '']).pid;
  writeFileSync(await scratchPath(folder, '.part'), 'own');
  add(`${hostname()}~${gone}~m~f.part`);
  add(`${hostname()}~${process.pid}~of-a-life-before~f.part`);
  add(`${hostname()}~${process.ppid}~m~runs.part`);
  add(`elsewhere~${gone}~m~young.part`);
  add('named-otherwise.part');
  const long = new Date(Date.now() - 25 * 60 * 60_000);
  utimesSync(add(`elsewhere~${gone}~m~old.part`), long, long);
  utimesSync(add('named-otherwise-and-old.part'), long, long);
  expect(await removeLeft(folder)).toBe(4);
  const left = readdirSync(folder).map((name) => name.split('~').at(-1));
  expect(left.filter((name) => !/^[\da-f-]{36}\.part$/.test(name ?? '')).sort()).toEqual([
    'named-otherwise.part',
    'runs.part',
    'young.part',
  ]);
  expect(left).toHaveLength(4);
});

it('nothing is removed if the folder does not exist', async () => {
  expect(await removeLeft(join(folder, 'none'))).toBe(0);
});
