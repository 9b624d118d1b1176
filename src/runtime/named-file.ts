/**
 * Reads files that a document names, such as the targets of its references. The document may be untrusted, so only
 * files in its own folder can be read. Neither paths nor links may lead out of that folder; hidden files, pipes and
 * devices are refused.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { AppError } from '#domain/error.ts';

/**
 * Flags for opening a file: refuse a link that replaced the file after the check of its path, and do not wait for the
 * writer of a pipe.
 */
const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Returns why documents of the folder may not name a path; undefined if they may. */
const faultOf = (folder: string, path: string): string | undefined => {
  const below = relative(folder, path);
  const names = below.split(sep);
  if (isAbsolute(below) || names[0] === '..')
    return 'leads out of the folder that contains the document';
  return names.some((name) => name.startsWith('.')) ? 'is hidden' : undefined;
};

/**
 * Reads the file at a path below a folder. Throws `invalid`, naming the path as `shown`, for a path or link that leads
 * out of the folder, for a hidden file, and for anything but a regular file.
 */
export const readNamedFile = (folder: string, path: string, shown: string = path): Buffer => {
  const refuse = (why: string, cause?: unknown): AppError =>
    new AppError('invalid', `${shown} ${why}`, { cause });
  const named = resolve(folder, path);
  // The path is checked before any disk access, since access to some paths alone mounts a volume or contacts another
  // machine.
  const fault = faultOf(resolve(folder), named);
  if (fault !== undefined) throw refuse(fault);
  try {
    const real = realpathSync(named);
    const realFault = faultOf(realpathSync(folder), real);
    if (realFault !== undefined) throw refuse(realFault);
    const file = openSync(real, openFlags);
    try {
      if (!fstatSync(file).isFile()) throw refuse('is not a regular file');
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
