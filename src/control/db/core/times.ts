/** Times as the server writes them, read. Of those by UTC, which most servers write, no part is looked at by itself. */
import pg from 'pg';

const { TIMESTAMPTZ } = pg.types.builtins;
const readUsual = pg.types.getTypeParser(TIMESTAMPTZ) as (text: string) => Date;

/** The time of a text such as `2026-03-01 12:00:00.123456+00`, to the millisecond before it. */
export const readTime = (text: string): Date => {
  const isPlain = text.endsWith('+00') && text[4] === '-' && text[10] === ' ';
  return isPlain ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`) : readUsual(text);
};

/** Of a column: its time by UTC, as a text that `isoOf` takes. Where a row has several times, that is less than to read them. */
export const utcText = (column: string): string => `(${column} at time zone 'utc')::text`;

/** Such a text as ISO 8601 has it, to the millisecond before it: `2026-03-01T12:00:00.123Z`. */
export const isoOf = (text: string): string => {
  if (text[4] !== '-' || text[10] !== ' ' || text.endsWith('BC')) {
    return readUsual(text.replace(/(?= BC$)|(?<! BC)$/, '+00')).toISOString();
  }
  const fraction = text.length === 19 ? '000' : text.slice(20, 23).padEnd(3, '0');
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction}Z`;
};

/** How the values of a row are read, by their types. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === TIMESTAMPTZ && format !== 'binary'
      ? readTime
      : pg.types.getTypeParser(oid, format ?? 'text'),
};
