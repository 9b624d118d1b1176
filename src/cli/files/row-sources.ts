/** Opens files of rows that a user names, or standard input for `-`, as streams that count the bytes read. */
import { createReadStream, type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { FoundRow, ReadOptions, RowSource } from '#data/formats/found.ts';
import { readRows } from '#data/formats/read-rows.ts';
import { AppError } from '#domain/error.ts';
import type { Context } from '../terminal/context.ts';

export type UserRows = RowSource & {
  /** Path, size and time of change of the file; undefined for standard input, which has no known size. */
  file: { path: string; bytes: number; changedMs: number } | undefined;
  readBytes(): number;
};

const statOf = (path: string, name: string): Stats => {
  try {
    const stats = statSync(path);
    if (stats.isDirectory()) throw new AppError('invalid', `${name} is a folder, not a file`);
    return stats;
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw isMissing
      ? new AppError('invalid', `there is no file ${name}`)
      : new AppError('invalid', `cannot read ${name}`, { cause });
  }
};

const standardInput = 'standard input';

const openSource = (context: Context, name: string): UserRows => {
  let readBytes = 0;
  const path = name === '-' ? undefined : resolve(context.cwd, name);
  const stats = path === undefined ? undefined : statOf(path, name);
  const bytesOf = (): AsyncIterable<Uint8Array> =>
    path === undefined ? context.stdin() : createReadStream(path, { highWaterMark: 256 * 1024 });
  return {
    name: path === undefined ? standardInput : name,
    path: stats?.isFile() === true ? path : undefined,
    file:
      path === undefined || stats?.isFile() !== true
        ? undefined
        : { path, bytes: stats.size, changedMs: stats.mtimeMs },
    async *open() {
      readBytes = 0;
      for await (const piece of bytesOf()) {
        readBytes += piece.byteLength;
        yield piece;
      }
    },
    readBytes: () => readBytes,
  };
};

/** Opens the sources of rows that a command names; opens standard input if it names none. */
export const openSources = (context: Context, names: readonly string[]): UserRows[] => {
  if (names.filter((name) => name === '-').length > 1) {
    throw new AppError('invalid', 'standard input can be read only once: "-" is given twice');
  }
  return (names.length === 0 ? ['-'] : names).map((name) => openSource(context, name));
};

/** Row with the file and line that it came from: `contacts.csv:7`. */
export type PlacedRow = FoundRow & { place: string };

/** Yields the rows of all files. Throws for the first row that is rejected. */
export async function* readSourceRows(
  context: Context,
  names: readonly string[],
  options: ReadOptions,
): AsyncGenerator<PlacedRow> {
  for (const source of openSources(context, names)) {
    for await (const { rows, faults } of readRows(source, options)) {
      const [fault] = faults;
      if (fault !== undefined) {
        throw new AppError('invalid', `${source.name}:${fault.at}: ${fault.detail}`);
      }
      for (const row of rows) yield { ...row, place: `${source.name}:${row.at}` };
    }
  }
}
