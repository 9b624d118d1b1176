/**
 * Build process for the code of dashboards. The bundler is native code with threads, so V8's limits do not cover its
 * memory. The process therefore watches its own resident memory and kills itself if it uses too much.
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
