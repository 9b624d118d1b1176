/**
 * Formats the changes for a grade: inserted, updated and deleted rows, field by field, with the checks that explain
 * them, and the changes left unexplained. Counts are complete. Of the lists, a grade contains one page, which is
 * limited in rows and in bytes.
 */
import { cut } from '#domain/cut.ts';
import type { EntityContract, Row } from '#language/contract.ts';
import { valueAtPath } from '#language/field-path.ts';
import { holdsInheriting, measureJson } from '#wire/json-extent.ts';
import type { GradeChange, GradeChanges } from '#wire/public-api/sessions/grade.ts';
import type { ChangedRow, ChangedState } from './changed-rows.ts';
import type { Claims } from './claims.ts';

export type Page = { offset: number; limit: number };

export const mostShownRows = 1_000;
/** Maximum size of each list, in bytes; a list of a single row may be larger. */
const mostShownBytes = 512 * 1024;
/**
 * Maximum length of a value, in characters, and maximum depth. A value beyond either is shown as the beginning of its
 * JSON.
 */
const longestValue = 2_000;
const mostLevels = 50;
/** Maximum number of characters that are shown of one row's fields. */
const longestFields = 64 * 1024;

const parse = (payload: string | null): Row => JSON.parse(payload ?? '{}') as Row;

const keyOf = ({ primaryKey }: EntityContract, { key }: ChangedRow): Row => {
  const values = JSON.parse(key) as unknown[];
  return Object.fromEntries(primaryKey.map((field, index) => [field, values[index]]));
};

type ShownField = GradeChange['fields'][string];

/** Returns true if an answer can contain the value unchanged. */
const isPlain = (text: string, value: unknown): boolean =>
  text.length <= longestValue &&
  measureJson(text).levels <= mostLevels &&
  !holdsInheriting(text, value);

/** Returns the values of a field before and after; if the field is absent at a moment, its member is absent, too. */
const showField = (before: unknown, after: unknown): ShownField => {
  const members = Object.entries({ before, after }).filter(([, value]) => value !== undefined);
  const texts = members.map(([name, value]) => [name, JSON.stringify(value), value] as const);
  if (texts.every(([, text, value]) => isPlain(text, value))) return Object.fromEntries(members);
  const shortened = texts.map(([name, text]) => [name, cut(text, longestValue)]);
  return { ...Object.fromEntries(shortened), cut: true };
};

const showFields = (
  row: ChangedRow,
  names: readonly string[],
): Pick<GradeChange, 'fields' | 'omitted'> => {
  const [before, after] = [parse(row.before), parse(row.after)];
  const fields: GradeChange['fields'] = {};
  let chars = 0;
  for (const [index, name] of names.entries()) {
    const shown = showField(valueAtPath(before, [name]), valueAtPath(after, [name]));
    chars += name.length + JSON.stringify(shown).length;
    if (chars > longestFields && index > 0) return { fields, omitted: names.slice(index) };
    fields[name] = shown;
  }
  return { fields };
};

/** Makes a collector for one page, which accepts changes until the page is full. */
const createShelf = ({ offset, limit }: Page) => {
  const shown: GradeChange[] = [];
  let seen = 0;
  let bytes = 0;
  let isFull = false;
  return {
    shown,
    offer(show: () => GradeChange): void {
      seen += 1;
      if (seen <= offset || isFull) return;
      if (shown.length === limit) {
        isFull = true;
        return;
      }
      const change = show();
      bytes += Buffer.byteLength(JSON.stringify(change));
      if (bytes > mostShownBytes && shown.length > 0) isFull = true;
      else shown.push(change);
    },
    /** Returns the offset of the next page; undefined if this page is the last. */
    next: () => (isFull ? offset + shown.length : undefined),
  };
};

/** Returns one page of the changes, and one page of the unexplained changes. */
export const reportChanges = (
  { entities, counts, beyond }: Pick<ChangedState, 'entities' | 'counts' | 'beyond'>,
  claims: Claims,
  page: Page,
): GradeChanges => {
  const all = createShelf(page);
  const left = createShelf(page);
  let unexplained = beyond;
  for (const [entity, { contract, rows }] of entities) {
    for (const row of rows) {
      const key = (): Row => keyOf(contract, row);
      const { change } = row;
      all.offer(() => ({
        entity,
        key: key(),
        change,
        ...showFields(row, row.fields),
        explainedBy: claims.explainedBy(row),
      }));
      const names = claims.unexplained(row);
      if (names.length === 0 && (change === 'updated' || claims.has(row))) continue;
      unexplained += 1;
      left.offer(() => ({ entity, key: key(), change, ...showFields(row, names) }));
    }
  }
  const next = all.next() ?? left.next();
  return {
    changes: {
      ...counts,
      unexplained,
      rows: all.shown,
      ...(next === undefined ? {} : { next: Math.min(all.next() ?? next, left.next() ?? next) }),
    },
    unexplained: left.shown,
  };
};
