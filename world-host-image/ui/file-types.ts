/**
 * Media types of files, by their names. The module is imported when a page is first requested: the table of types
 * takes a megabyte, and most sessions never show a page.
 */
import { contentType } from 'mime-types';

/** Returns the media type of a file. */
export const typeOf = (path: string): string => {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return contentType(name) || 'application/octet-stream';
};
