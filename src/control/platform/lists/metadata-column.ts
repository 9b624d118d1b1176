/**
 * Filter columns for JSON that clients sent. The JSON is stored as text and parsed for each row that a query examines;
 * no index covers it.
 */
import type { Column } from './filter.ts';

/**
 * Builds the SQL that removes escapes of characters which PostgreSQL cannot store (NUL, surrogates) from JSON text.
 * Escaped backslashes stay.
 */
const holdable = (sql: string): string =>
  `regexp_replace(${sql}, '(\\\\\\\\)|\\\\u(0000|d[89a-f]..)', '\\1', 'g')`;

/** Builds the SQL that casts the text to JSON. */
const jsonOf = (sql: string): string =>
  `(case when strpos(${sql}, '\\u') > 0 then ${holdable(sql)} else ${sql} end::json)`;

/** Returns the column for an input or output as text: a JSON string without its quotes, any other value as JSON. */
export const textColumn = (sql: string): Column => ({
  kind: 'text',
  sql: `(case when starts_with(${sql}, '"') then ${jsonOf(sql)} #>> '{}' else ${sql} end)`,
});

/**
 * Returns the column for the names of the tools that were offered to a model, from the member `tools` of the model's
 * input, as the vendors' APIs have it.
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

/** Returns the column for the value of a metadata key, as text. */
export const metadataColumn = (sql: string): Column => ({
  kind: 'byKey',
  held: 'text',
  of: (key, test) => (bind) => test(`(${jsonOf(sql)} ->> ${bind(key)}::text)`)(bind),
});
