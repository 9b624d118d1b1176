/** Filter columns over the JSON that clients sent. It is stored as text and parsed for each row visited; no index covers it. */
import type { Column } from './filter.ts';

/** JSON text without escapes of what no database holds: NUL, and half a character. Escaped backslashes stay. */
const holdable = (sql: string): string =>
  `regexp_replace(${sql}, '(\\\\\\\\)|\\\\u(0000|d[89a-f]..)', '\\1', 'g')`;

/** The text as a value of JSON. */
const jsonOf = (sql: string): string =>
  `(case when strpos(${sql}, '\\u') > 0 then ${holdable(sql)} else ${sql} end::json)`;

/** Input or output as a text: one that was sent as a text without its quotes, all else as JSON. */
export const textColumn = (sql: string): Column => ({
  kind: 'text',
  sql: `(case when starts_with(${sql}, '"') then ${jsonOf(sql)} #>> '{}' else ${sql} end)`,
});

/** The names of the tools that a model was offered: `tools` of its input, as the vendors' APIs have them. */
export const toolNamesColumn = (sql: string): Column => {
  const tools = `${jsonOf(sql)} -> 'tools'`;
  return {
    kind: 'list',
    sql: `(case when starts_with(${sql}, '{') and json_typeof(${tools}) = 'array' then array(
      select coalesce(tool ->> 'name', tool -> 'function' ->> 'name') from json_array_elements(${tools}) as tool
    ) end)`,
  };
};

/** The value of a key of metadata, as text. */
export const metadataColumn = (sql: string): Column => ({
  kind: 'byKey',
  held: 'text',
  of: (key, test) => (bind) => test(`(${jsonOf(sql)} ->> ${bind(key)}::text)`)(bind),
});
