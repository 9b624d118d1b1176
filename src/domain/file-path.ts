/**
 * Paths of project files: names with `/` between. A path is kept in the composed form of Unicode (NFC), so that what
 * looks the same is the same; upper and lower case differ. Who writes files to a disk judges them for that disk, too,
 * see `tree-path.ts`.
 */
import { AppError } from './error.ts';

export const filePathLimits = {
  /** One name, in bytes of UTF-8: what common file systems allow. */
  nameBytes: 255,
  /** Folders inside one another, the file included. */
  depth: 32,
  /** A whole path; no path within the other limits is longer. */
  chars: 8_192,
} as const;

/** Marks that turn the direction of text, and the mark of byte order: a path with them looks like another. */
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
  if (path.includes('\\')) return 'has a backslash: separate folders by "/"';
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(path)) return 'has a control character';
  if (!path.isWellFormed()) return 'is not well-formed Unicode';
  if (deceiving.test(path)) return 'has an invisible character';
  if (path.startsWith('/')) return 'begins with "/": paths begin at the top';
  if (names.length > filePathLimits.depth) {
    return `lies deeper than ${filePathLimits.depth} folders`;
  }
  return names.map(nameFault).find((fault) => fault !== undefined);
};

/** A path as it is kept: its names from the top on, and whether it can only be a folder's (it ends with `/`). */
export type FilePath = { names: string[]; isFolder: boolean };

/** Reads a path, given as the field of this name; throws `invalid` for what is none. '' and '/' are the top. */
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

/** The path of these names. */
export const joinFilePath = (names: readonly string[]): string => names.join('/');
