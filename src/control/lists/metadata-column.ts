/** Metadata as a column of filters. It is JSON text, read for each row that is looked at; no index knows it. */
import type { Column } from './filter.ts';

/** JSON text without escapes of what no database holds: NUL, and half a character. Escaped backslashes stay. */
const holdable = (sql: string): string =>
  `regexp_replace(${sql}, '(\\\\\\\\)|\\\\u(0000|d[89a-f]..)', '\\1', 'g')`;

/** The value of a key of metadata, as text. */
export const metadataColumn = (sql: string): Column => ({
  kind: 'byKey',
  held: 'text',
  of: (key, test) => (bind) =>
    test(
      `(case when strpos(${sql}, '\\u') > 0 then ${holdable(sql)} else ${sql} end::json ->> ${bind(key)}::text)`,
    )(bind),
});
