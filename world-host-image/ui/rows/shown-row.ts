/**
 * Rows as lists show them: as they were stored, but of a large row no more than a list has room for. Long texts are
 * cut, lists and objects left out; `cut` of the answer names the rows that this was done to. A row's own page has
 * it whole.
 */
import { cut } from '#domain/cut.ts';
import type { EntityContract, Row } from '#language/contract.ts';

/** Characters of a row that is shown as it is, of a text of a larger one, and of all rows that one answer looks into. */
const wholeChars = 8_192;
const shownChars = 256;
const mostChars = 8 * 1024 * 1024;

const shorten = (value: unknown): unknown => {
  if (typeof value === 'string')
    return value.length > shownChars ? `${cut(value, shownChars)}…` : value;
  return typeof value === 'object' ? null : value;
};

const withoutBulk = (row: Row, key: readonly string[]): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, key.includes(name) ? value : shorten(value)]),
  );

/** Payload texts of rows as JSON text of a list, and which of them are not whole, by their place in it. */
export const showRows = (
  { primaryKey }: EntityContract,
  payloads: readonly string[],
): { json: string; cut: number[] } => {
  let left = mostChars;
  const shortened: number[] = [];
  const texts: string[] = [];
  for (const [index, payload] of payloads.entries()) {
    if (payload.length <= wholeChars) {
      texts.push(payload);
      continue;
    }
    // The first is read whatever its size: a page is never empty for one large row.
    left -= payload.length;
    if (left < 0 && index > 0) break;
    shortened.push(index);
    texts.push(JSON.stringify(withoutBulk(JSON.parse(payload) as Row, primaryKey)));
  }
  return { json: `[${texts.join()}]`, cut: shortened };
};
