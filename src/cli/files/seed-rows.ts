/**
 * Reads rows of files into memory, to send them in one request: for the creation of a world, or as a seed of a session.
 * The place of each row is stored for error messages.
 */
import type { ReadOptions } from '#data/formats/found.ts';
import { AppError, type FieldProblem } from '#domain/error.ts';
import type { Row } from '#language/contract.ts';
import type { Context } from '../terminal/context.ts';
import { formatTable } from '../terminal/print.ts';
import { readSourceRows } from './row-sources.ts';

export type SeedRows = {
  rows: Record<string, Row[]>;
  /** Returns the place of the entity's row at an index, such as `contacts.csv:7`. */
  placeOf(entity: string, index: number): string | undefined;
};

/** Maximum size of the rows in one request, in characters of JSON. It leaves space for the files of a tree. */
const mostChars = 24 * 1024 * 1024;

/** Reads all rows. Throws for the first row that is rejected. */
export const readSeedRows = async (
  context: Context,
  files: readonly string[],
  options: ReadOptions,
): Promise<SeedRows> => {
  const found = new Map<string, { row: Row; place: string }[]>();
  let chars = 0;
  for await (const { entity, row, place } of readSourceRows(context, files, options)) {
    const list = found.get(entity) ?? [];
    found.set(entity, list);
    list.push({ row, place });
    chars += JSON.stringify(row).length;
    if (chars > mostChars) {
      throw new AppError('invalid', `${place}: there are too many rows for one request`, {
        detail: {
          hint: 'import any number of rows into an existing world with "svc worlds data import"',
        },
      });
    }
  }
  return {
    rows: Object.fromEntries(
      [...found].map(([entity, list]) => [entity, list.map(({ row }) => row)]),
    ),
    placeOf: (entity, index) => found.get(entity)?.[index]?.place,
  };
};

type Placed = { entity: string; index: number; field: string | undefined };

/** Returns the entity, index and field of the row that a problem concerns; undefined for other problems. */
const rowOf = ({ path }: FieldProblem): Placed | undefined => {
  const parts = path.flatMap((part, at) => (at === 0 ? part.split('.') : [part]));
  const from = parts[0] === '' ? 1 : 0;
  if (parts[from] !== 'data' || parts[from + 1] !== 'rows') return undefined;
  const [entity = '', index = '', field] = parts.slice(from + 2);
  return /^\d+$/.test(index) ? { entity, index: Number(index), field } : undefined;
};

/** Adds to an error of the service the places of the rejected rows in the user's files. */
export const withPlaces = (error: unknown, { placeOf }: SeedRows): unknown => {
  if (!(error instanceof AppError)) return error;
  const placed = error.fields.flatMap((field) => {
    const row = rowOf(field);
    const place = row && placeOf(row.entity, row.index);
    if (row === undefined || place === undefined) return [];
    const subject = [row.entity, row.field].filter((part) => part !== undefined).join('.');
    return [[`  ${place}`, subject, field.message]];
  });
  if (placed.length === 0) return error;
  const shown = placed.slice(0, 20);
  const more = placed.length - shown.length;
  const lines = [formatTable(shown), ...(more > 0 ? [`  and ${more} more`] : [])].join('\n');
  return new AppError(error.code, `rows were refused, so nothing was written:\n${lines}`, {
    detail: { status: error.detail.status },
    cause: undefined,
  });
};
