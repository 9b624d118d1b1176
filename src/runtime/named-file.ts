/**
 * Reads files that a document names, such as the targets of its references. A document may come from a stranger, so it
 * reaches the folder that it lies in and nothing else: neither its paths nor links lead out of that folder, hidden
 * files stay unread, and a pipe or a device is refused.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { AppError } from '#domain/error.ts';

/** Refuses a link that takes the file's place after its path was judged, and does not wait for a pipe's writer. */
const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Returns why a path is not for documents of the folder; undefined when it is. */
const faultOf = (folder: string, path: string): string | undefined => {
  const below = relative(folder, path);
  const names = below.split(sep);
  if (isAbsolute(below) || names[0] === '..') return 'leads out of the folder of the document';
  return names.some((name) => name.startsWith('.')) ? 'is hidden' : undefined;
};

/**
 * Reads the file at a path below a folder. Throws `invalid`, naming the path as `shown`, for a path or link that leads
 * out of the folder, a hidden file, and what is no regular file.
 */
export const readNamedFile = (folder: string, path: string, shown: string = path): Buffer => {
  const refuse = (why: string, cause?: unknown): AppError =>
    new AppError('invalid', `${shown} ${why}`, { cause });
  const named = resolve(folder, path);
  // The path is judged before the disk is touched: looking at some paths alone mounts or asks another machine.
  const fault = faultOf(resolve(folder), named);
  if (fault !== undefined) throw refuse(fault);
  try {
    const real = realpathSync(named);
    const realFault = faultOf(realpathSync(folder), real);
    if (realFault !== undefined) throw refuse(realFault);
    const file = openSync(real, openFlags);
    try {
      if (!fstatSync(file).isFile()) throw refuse('is no regular file');
      return readFileSync(file);
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new AppError('invalid', `there is no file ${shown}`, { cause });
    throw refuse('cannot be read', cause);
  }
};
