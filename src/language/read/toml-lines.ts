/**
 * Where the tables and keys of a TOML text stand, as far as that shows from the beginnings of lines:
 * table headers and keys. What lies inside an inline table or a list is found at its key's line.
 */
import { escapeSegment } from './pointer.ts';

const keyPart = `(?:[A-Za-z0-9_-]+|"(?:[^"\\\\]|\\\\.)*"|'[^']*')`;
const dottedKey = `${keyPart}(?:\\s*\\.\\s*${keyPart})*`;
const tableHeader = new RegExp(`^\\s*\\[\\s*(${dottedKey})\\s*\\]`);
const listHeader = new RegExp(`^\\s*\\[\\[\\s*(${dottedKey})\\s*\\]\\]`);
const keyLine = new RegExp(`^\\s*(${dottedKey})\\s*=`);

const splitKey = (key: string): string[] =>
  [...key.matchAll(new RegExp(keyPart, 'g'))].map(([part]) =>
    part.startsWith('"') || part.startsWith("'") ? part.slice(1, -1) : part,
  );

/** The mark that is still open at a line's end when a multi-line string begins on it. */
const openedString = (line: string): string | undefined =>
  ['"""', "'''"].find((mark) => line.split(mark).length % 2 === 0);

/** The line of each table and key by its pointer, lists of tables counted from 0. */
export const scanToml = (text: string): ReadonlyMap<string, number> => {
  const lines = new Map<string, number>([['', 1]]);
  /** Pointers of lists of tables, each with how many tables it has so far. */
  const listed = new Map<string, number>();
  let table = '';
  let openMark: string | undefined;

  const descend = (from: string, parts: readonly string[]): string => {
    let pointer = from;
    for (const part of parts) {
      pointer += `/${escapeSegment(part)}`;
      const count = listed.get(pointer);
      if (count !== undefined) pointer += `/${count - 1}`;
    }
    return pointer;
  };
  const note = (pointer: string, line: number): void => {
    if (!lines.has(pointer)) lines.set(pointer, line);
  };
  const enterListed = (parts: readonly string[], line: number): string => {
    const list = `${descend('', parts.slice(0, -1))}/${escapeSegment(parts.at(-1) ?? '')}`;
    const count = listed.get(list) ?? 0;
    listed.set(list, count + 1);
    note(list, line);
    return `${list}/${count}`;
  };

  for (const [index, line] of text.split('\n').entries()) {
    if (openMark !== undefined) {
      if (line.includes(openMark)) openMark = undefined;
      continue;
    }
    const list = listHeader.exec(line)?.[1];
    const header = tableHeader.exec(line)?.[1];
    const key = keyLine.exec(line)?.[1];
    if (list !== undefined) table = enterListed(splitKey(list), index + 1);
    else if (header !== undefined) table = descend('', splitKey(header));
    if (list !== undefined || header !== undefined) note(table, index + 1);
    else if (key !== undefined) note(descend(table, splitKey(key)), index + 1);
    openMark = openedString(line);
  }
  return lines;
};
