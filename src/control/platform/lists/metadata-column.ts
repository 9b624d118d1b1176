/**
 * Filter columns over the JSON that clients sent. It is stored as text and parsed for each row visited; no index
 * covers it.
 */
import type { Column } from './filter.ts';

/**
 * Removes escapes of characters that PostgreSQL cannot hold (NUL, surrogates) from JSON text; escaped backslashes
 * stay.
 */
const holdable = (sql: string): string =>
  `regexp_replace(${sql}, '(\\\\\\\\)|\\\\u(0000|d[89a-f]..)', '\\1', 'g')`;

/** Casts the text to JSON. */
const jsonOf = (sql: string): string =>
  `(case when strpos(${sql}, '\\u') > 0 then ${holdable(sql)} else ${sql} end::json)`;

/** Returns the column of an input or output as text: a JSON string without its quotes, anything else as its JSON. */
export const textColumn = (sql: string): Column => ({
  kind: 'text',
  sql: `(case when starts_with(${sql}, '"') then ${jsonOf(sql)} #>> '{}' else ${sql} end)`,
});

/**
 * Returns the column with the names of the tools offered to a model: `tools` of its input, in the form of the vendors'
 * APIs.
 */
export const toolNamesColumn = (sql: string): Column => {
  const tools = `${jsonOf(sql)} -> 'tools'`;
  return {
    kind: 'list',
    sql: `(case when starts_with(${sql}, '{') and json_typeof(${tools}) = 'array' then array(
      select coalesce(tool ->> 'name', tool -> 'function' ->> 'name') from json_array_elements(${tools}) as tool
    ) end)`,
  };
};

/** Returns the column with the value of a metadata key, as text. */
export const metadataColumn = (sql: string): Column => ({
  kind: 'byKey',
  held: 'text',
  of: (key, test) => (bind) => test(`(${jsonOf(sql)} ->> ${bind(key)}::text)`)(bind),
});
