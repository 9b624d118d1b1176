/**
 * The building process, a program of its own. The bundler is native code with threads: the memory that it takes is not
 * V8's to bound, so the process looks at its own, and ends itself.
 */
import { setPriority } from 'node:os';
import { serveJobs } from '../../worlds/compile/serve-jobs.ts';
import { buildCode } from './build.ts';

const priority = 10;
const mebibyte = 1024 * 1024;
const mostRssMb = 512;
const lookMs = 20;

setPriority(priority);
setInterval(() => {
  if (process.memoryUsage.rss() > mostRssMb * mebibyte) process.kill(process.pid, 'SIGKILL');
}, lookMs).unref();
serveJobs(buildCode);
