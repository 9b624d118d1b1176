/**
 * Parses and formats times of the database. Most servers send text in UTC; a fast path handles it without parsing its
 * parts.
 */
import pg from 'pg';

const { TIMESTAMPTZ } = pg.types.builtins;
const readUsual = pg.types.getTypeParser(TIMESTAMPTZ) as (text: string) => Date;

/** Parses a text such as `2026-03-01 12:00:00.123456+00`. The result is truncated to milliseconds. */
export const readTime = (text: string): Date => {
  const isPlain = text.endsWith('+00') && text[4] === '-' && text[10] === ' ';
  return isPlain ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`) : readUsual(text);
};

/**
 * Returns the SQL for a column's time in UTC, as text for `isoOf`. For rows with several times, this is cheaper than
 * parsing dates.
 */
export const utcText = (column: string): string => `(${column} at time zone 'utc')::text`;

/** Converts a text of `utcText` to ISO 8601, truncated to milliseconds: `2026-03-01T12:00:00.123Z`. */
export const isoOf = (text: string): string => {
  if (text[4] !== '-' || text[10] !== ' ' || text.endsWith('BC')) {
    return readUsual(text.replace(/(?= BC$)|(?<! BC)$/, '+00')).toISOString();
  }
  const fraction = text.length === 19 ? '000' : text.slice(20, 23).padEnd(3, '0');
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction}Z`;
};

/** Functions that parse the values of a row, by type. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === TIMESTAMPTZ && format !== 'binary'
      ? readTime
      : pg.types.getTypeParser(oid, format ?? 'text'),
};
