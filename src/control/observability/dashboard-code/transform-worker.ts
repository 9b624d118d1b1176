/**
 * Process that runs transforms. Its priority is lower than that of the processes that open sessions and answer calls.
 */
import { setPriority } from 'node:os';
import { serveJobs } from '../../worlds/compile/serve-jobs.ts';
import { runTransform, type TransformJob } from './transform.ts';

const priority = 10;

setPriority(priority);
serveJobs((job: TransformJob) => runTransform(job));
