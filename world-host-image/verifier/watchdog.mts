/**
 * Watches the verifier's process from a thread of its own, because the main thread is inside SQLite for as long as a
 * query takes. It kills the process when its host has ended, and when it takes too much memory.
 */
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { outOfMemory } from './protocol.ts';

const everyMs = 20;
const memoryLimitMb = Number(workerData);
const host = process.ppid;

const kill = (): void => void process.kill(process.pid, 'SIGKILL');

setInterval(() => {
  if (process.ppid !== host) kill();
  if (process.memoryUsage.rss() <= memoryLimitMb * 1024 * 1024) return;
  writeSync(2, outOfMemory);
  kill();
}, everyMs);
