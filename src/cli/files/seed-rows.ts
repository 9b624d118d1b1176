/**
 * Rows of files that go along with the creation of a world: all of them in memory, as they are sent in one request.
 * Where each came from is kept, for what is refused of them.
 */
import type { ReadOptions } from '#data/formats/found.ts';
import { readRows } from '#data/formats/read-rows.ts';
import { AppError, type FieldProblem } from '#domain/error.ts';
import type { Row } from '#language/contract.ts';
import type { Context } from '../terminal/context.ts';
import { openSources } from './row-sources.ts';

export type SeedRows = {
  rows: Record<string, Row[]>;
  /** `contacts.csv:7` for a row of an entity. */
  placeOf(entity: string, index: number): string | undefined;
};

/** Characters of JSON that one request has room for, beside the files of a tree. */
const mostChars = 24 * 1024 * 1024;

/** Reads them all; throws for the first row that cannot be taken. */
export const readSeedRows = async (
  context: Context,
  files: readonly string[],
  options: ReadOptions,
): Promise<SeedRows> => {
  const found = new Map<string, { row: Row; place: string }[]>();
  let chars = 0;
  for (const source of openSources(context, files)) {
    for await (const { rows, faults } of readRows(source, options)) {
      const [fault] = faults;
      if (fault !== undefined) {
        throw new AppError('invalid', `${source.name}:${fault.at}: ${fault.detail}`);
      }
      for (const { entity, row, at } of rows) {
        const list = found.get(entity) ?? [];
        found.set(entity, list);
        list.push({ row, place: `${source.name}:${at}` });
        chars += JSON.stringify(row).length;
      }
      if (chars > mostChars) {
        throw new AppError(
          'invalid',
          `${source.name}: that are too many rows to create a world with`,
          {
            detail: { hint: 'create it without them, then bring them by "svc worlds data import"' },
          },
        );
      }
    }
  }
  return {
    rows: Object.fromEntries(
      [...found].map(([entity, list]) => [entity, list.map(({ row }) => row)]),
    ),
    placeOf: (entity, index) => found.get(entity)?.[index]?.place,
  };
};

/** Entity and index of the row that a problem is of; undefined for one of something else. */
const rowOf = ({ path }: FieldProblem): { entity: string; index: number } | undefined => {
  const parts = path.flatMap((part, at) => (at === 0 ? part.split('.') : [part]));
  const from = parts[0] === '' ? 1 : 0;
  if (parts[from] !== 'data' || parts[from + 1] !== 'rows') return undefined;
  const [entity = '', index = ''] = parts.slice(from + 2);
  return /^\d+$/.test(index) ? { entity, index: Number(index) } : undefined;
};

/** An error of the service with the places of the rows that it refuses in the user's own files. */
export const withPlaces = (error: unknown, { placeOf }: SeedRows): unknown => {
  if (!(error instanceof AppError)) return error;
  const placed = error.fields.flatMap((field) => {
    const row = rowOf(field);
    const place = row && placeOf(row.entity, row.index);
    return place === undefined ? [] : [`  ${place}  ${field.message}`];
  });
  if (placed.length === 0) return error;
  const shown = placed.slice(0, 20);
  const more = placed.length - shown.length;
  const lines = [...shown, ...(more > 0 ? [`  and ${more} more`] : [])].join('\n');
  return new AppError(error.code, `rows were refused, and nothing was written:\n${lines}`, {
    detail: { status: error.detail.status },
    cause: undefined,
  });
};
