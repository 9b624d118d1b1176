/** The process that runs transforms, a program of its own; opens and calls of sessions go before it. */
import { setPriority } from 'node:os';
import { serveJobs } from '../../worlds/compile/serve-jobs.ts';
import { runTransform, type TransformJob } from './transform.ts';

const priority = 10;

setPriority(priority);
serveJobs((job: TransformJob) => runTransform(job));
