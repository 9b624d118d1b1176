/**
 * Writes Node's compile cache after a file of tests, for later ones. Node itself does so only when a process ends
 * normally, and vitest kills its processes.
 */
import { flushCompileCache } from 'node:module';
import { afterAll } from 'vitest';

afterAll(() => flushCompileCache());
