import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeLock } from './lock.ts';
import { isRunning, processStart } from './processes.ts';

describe('the lock of a data folder', () => {
  let root: string;
  let file: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'svc-lock-'));
    file = join(root, 'up.lock');
  });
  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });

  const self = { pid: process.pid, start: processStart(process.pid) ?? '' };

  it('is held until it is released', () => {
    const lock = takeLock(file, root);
    expect(() => takeLock(file, root)).toThrow(
      `svc up already runs on ${root} (process ${self.pid})`,
    );
    lock.publishUrl('http://127.0.0.1:1');
    expect(() => takeLock(file, root)).toThrow('http://127.0.0.1:1');
    lock.release();
    takeLock(file, root).release();
    expect(readdirSync(root)).toEqual([]);
  });

  it('names its file if the disk is full, and leaves no file behind', () => {
    const draft = `${file}.${process.pid}`;
    symlinkSync('/dev/full', draft);
    expect(() => takeLock(file, root)).toThrow(`cannot write ${file} (ENOSPC)`);
    expect(readdirSync(root)).toEqual([]);
    const lock = takeLock(file, root);
    symlinkSync('/dev/full', draft);
    expect(() => lock.publishUrl('http://127.0.0.1:1')).toThrow(`cannot write ${file} (ENOSPC)`);
    lock.release();
    expect(readdirSync(root)).toEqual([]);
  });

  it('is taken over from a process that is gone', async () => {
    const child = spawn('sleep', ['60']);
    await once(child, 'spawn');
    const pid = child.pid as number;
    takeLock(file, root, { pid, start: processStart(pid) ?? '' });
    expect(() => takeLock(file, root)).toThrow(`process ${pid}`);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isRunning(pid)).toBe(false);
    const lock = takeLock(file, root);
    expect(lock.wasStale).toBe(true);
    lock.release();
    expect(readdirSync(root)).toEqual([]);
  });

  it('is taken over if another process now has the id of its process', () => {
    takeLock(file, root, { ...self, start: 'earlier' });
    expect(takeLock(file, root).wasStale).toBe(true);
  });

  it('is not released by a process that no longer holds it', () => {
    const old = takeLock(file, root, { ...self, start: 'earlier' });
    takeLock(file, root);
    old.release();
    expect(existsSync(file)).toBe(true);
  });

  it('reports if another process is taking it over', () => {
    takeLock(file, root, { ...self, start: 'earlier' });
    writeFileSync(`${file}.claim-${self.pid}-earlier`, '');
    expect(() => takeLock(file, root)).toThrow('another svc up is taking over');
  });

  it('names its file if that cannot be read', () => {
    writeFileSync(file, 'not json');
    expect(() => takeLock(file, root)).toThrow(`cannot read the lock ${file}`);
  });
});
