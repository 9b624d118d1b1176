/**
 * Paths of project files: names separated by `/`. A path is stored in the composed form of Unicode (NFC), so that paths
 * that look the same are equal; upper and lower case differ. Code that writes project files to a disk also checks their
 * paths with `tree-path.ts`.
 */
import { AppError } from './error.ts';

export const filePathLimits = {
  /** Maximum size of one name, in bytes of UTF-8: the limit of common file systems. */
  nameBytes: 255,
  /** Maximum depth of a path, counting its folders and the file. */
  depth: 32,
  /** Maximum length of a whole path, in characters. Paths within the other limits are never longer. */
  chars: 8_192,
} as const;

/**
 * Characters that change the direction of text, invisible characters, and byte order marks. A path with one of them
 * looks like another path.
 */
const deceiving = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/u;

const nameFault = (name: string): string | undefined => {
  if (name === '') return 'has an empty segment';
  if (name === '.' || name === '..') return 'has "." or ".." as a segment';
  if (Buffer.byteLength(name) > filePathLimits.nameBytes) {
    return `has a name of more than ${filePathLimits.nameBytes} bytes`;
  }
  return undefined;
};

const faultOf = (path: string, names: readonly string[]): string | undefined => {
  if (path.includes('\\')) return 'has a backslash: separate folders with "/"';
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(path)) return 'has a control character';
  if (!path.isWellFormed()) return 'is not well-formed Unicode';
  if (deceiving.test(path)) return 'has an invisible character';
  if (path.startsWith('/')) return 'begins with "/": write the path without the first "/"';
  if (names.length > filePathLimits.depth) {
    return `is nested too deeply: at most ${filePathLimits.depth} levels are allowed`;
  }
  return names.map(nameFault).find((fault) => fault !== undefined);
};

/**
 * A stored path: its names from the top folder on. `isFolder` is true if the path ends with `/` and so can only be a
 * folder's.
 */
export type FilePath = { names: string[]; isFolder: boolean };

/**
 * Parses a path; '' and '/' name the top folder. Throws `invalid`, with the name of the field, if the path is
 * malformed.
 */
export const readFilePath = (field: string, given: string): FilePath => {
  const path = given.normalize('NFC');
  if (path === '' || path === '/') return { names: [], isFolder: true };
  const isFolder = path.endsWith('/');
  const names = (isFolder ? path.slice(0, -1) : path).split('/');
  const fault = faultOf(path, names);
  if (fault === undefined) return { names, isFolder };
  throw new AppError('invalid', `${field} ${fault}`, {
    fields: [{ path: [field], message: fault }],
  });
};

/** Joins names to a path. */
export const joinFilePath = (names: readonly string[]): string => names.join('/');
