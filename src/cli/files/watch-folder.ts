/** Tells when files of a folder change, once for all that change together. */
import { watch } from 'node:fs';

/** An editor that saves several files, or one in several steps, is done by then. */
const settleMs = 25;

/** What never is a part of a world, and changes all the time. */
const isAside = (path: string): boolean =>
  path.split(/[/\\]/).some((part) => part.startsWith('.') || part === 'node_modules');

/** Calls `onChange` until `signal` aborts. Throws where the folder cannot be watched. */
export const watchFolder = (folder: string, onChange: () => void, signal: AbortSignal): void => {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(folder, { recursive: true, signal }, (_, path) => {
    // `.svcignore` is read with the folder.
    if (path !== null && path !== '.svcignore' && isAside(path)) return;
    clearTimeout(timer);
    timer = setTimeout(onChange, settleMs);
  });
  // A folder below that comes and goes quickly cannot be watched, and need not be.
  watcher.on('error', () => undefined);
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
};
