/**
 * Shortens rows for lists. Small rows are shown unchanged. In a large row, long texts are cut, and lists and objects
 * are left out; `cut` in the answer names the rows that were shortened. A row's own page shows the whole row.
 */
import { cut } from '#domain/cut.ts';
import type { EntityContract, Row } from '#language/contract.ts';

/**
 * Maximum length, in characters, of a row that is shown whole. The next constants are the maximum length of a text in a
 * larger row, and the maximum total length of the larger rows that are parsed for one answer.
 */
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

/** Returns rows (payload texts) as the JSON text of a list, and the indexes of those that were shortened. */
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
    // The first row is always parsed, whatever its size, so that one large row never makes a page empty.
    left -= payload.length;
    if (left < 0 && index > 0) break;
    shortened.push(index);
    texts.push(JSON.stringify(withoutBulk(JSON.parse(payload) as Row, primaryKey)));
  }
  return { json: `[${texts.join()}]`, cut: shortened };
};
