/**
 * Keeps what Node compiled for a file of tests, for all that come after: by itself it does so where a process ends in its
 * own time, and vitest ends its processes.
 */
import { flushCompileCache } from 'node:module';
import { afterAll } from 'vitest';

afterAll(() => flushCompileCache());
