/**
 * Media types of files, by the files' names. The module is imported when a page is first requested: the table of types
 * takes a megabyte of memory, and most sessions never serve a page.
 */
import { contentType } from 'mime-types';

/** Returns the media type of a file. */
export const typeOf = (path: string): string => {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return contentType(name) || 'application/octet-stream';
};
