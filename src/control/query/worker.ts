/** The query process, a program of its own: it reads rows of store files, and nothing else. */
import { serveJobs } from '../compile/serve-jobs.ts';
import { createQueries } from './job.ts';

serveJobs(createQueries());
