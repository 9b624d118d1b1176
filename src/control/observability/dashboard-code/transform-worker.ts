/** Process that runs transforms, at a lower priority than opens and calls of sessions. */
import { setPriority } from 'node:os';
import { serveJobs } from '../../worlds/compile/serve-jobs.ts';
import { runTransform, type TransformJob } from './transform.ts';

const priority = 10;

setPriority(priority);
serveJobs((job: TransformJob) => runTransform(job));
