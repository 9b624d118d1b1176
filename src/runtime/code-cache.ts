/**
 * Shares Node's cache of compiled code between starts of a program, if `NODE_COMPILE_CACHE` names a folder. Child
 * programs that are started with an environment of their own get the same folder. With the cache, a start takes half of
 * the processor time.
 */
import { flushCompileCache, getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/** Returns the variables to add to the environment of a child program; empty if this process has no cache. */
export const codeCacheEnv = (): Record<string, string> => {
  // Node returns a folder for its own version, inside the configured one.
  const own = getCompileCacheDir();
  return own === undefined ? {} : { NODE_COMPILE_CACHE: dirname(own) };
};

/**
 * Writes the code compiled so far to the cache. It is called early, because a process that is killed has no later
 * chance to.
 */
export const keepCompiledCode = (): void => flushCompileCache();
