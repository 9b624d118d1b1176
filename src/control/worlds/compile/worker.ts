/**
 * Program of the compile processes. Such a process is killed and does not exit by itself, so it saves its compiled code
 * right after its start.
 */
import { keepCompiledCode } from '#runtime/code-cache.ts';
import { createJobs } from './job.ts';
import { serveJobs } from './serve-jobs.ts';

serveJobs(createJobs());
keepCompiledCode();
