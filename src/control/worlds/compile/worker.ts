/**
 * The compile process, a program of its own. It is killed rather than exits, so it saves its compiled code right after
 * its start.
 */
import { keepCompiledCode } from '#runtime/code-cache.ts';
import { createJobs } from './job.ts';
import { serveJobs } from './serve-jobs.ts';

serveJobs(createJobs());
keepCompiledCode();
