/** The compile process, a program of its own. */
import { createJobs } from './job.ts';
import { serveJobs } from './serve-jobs.ts';

serveJobs(createJobs());
