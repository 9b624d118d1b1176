/** The compile process, a program of its own. It is ended from outside, so it keeps its compiled code at its start. */
import { keepCompiledCode } from '#runtime/code-cache.ts';
import { createJobs } from './job.ts';
import { serveJobs } from './serve-jobs.ts';

serveJobs(createJobs());
keepCompiledCode();
