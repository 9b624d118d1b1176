/** Reports changes of files in a folder. Changes that occur together are reported once. */
import { watch } from 'node:fs';

/**
 * Time without a change after which a report is sent, in milliseconds. An editor that saves several files, or one file
 * in several steps, is done by then.
 */
const settleMs = 25;

/** Returns true for paths that are never part of a world but change often. */
const isAside = (path: string): boolean =>
  path.split(/[/\\]/).some((part) => part.startsWith('.') || part === 'node_modules');

/** Calls `onChange` after changes until `signal` aborts. Throws if the folder cannot be watched. */
export const watchFolder = (folder: string, onChange: () => void, signal: AbortSignal): void => {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(folder, { recursive: true, signal }, (_, path) => {
    // `.svcignore` affects what is read from the folder.
    if (path !== null && path !== '.svcignore' && isAside(path)) return;
    clearTimeout(timer);
    timer = setTimeout(onChange, settleMs);
  });
  // A subfolder that is removed quickly cannot be watched, and need not be.
  watcher.on('error', () => undefined);
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
};
