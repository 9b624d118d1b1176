/**
 * Builds the text of `docs/write-worlds/keys.md`: every key of the files that people write by hand, from the same
 * descriptions that editors use for completion (`svc worlds schema json-schema`).
 */
import { fileSchema, type SchemaFile, schemaFiles } from '#language/files/file-schemas.ts';

type Schema = { readonly [keyword: string]: unknown };

const intro = `\
# Every key

<!-- Made by \`make docs\` from the file schemas in src/language/: edit those. -->

This page is a reference for authors of worlds: it lists every key of the hand-written files.
[world-language.md](world-language.md) explains how the files work together.

\`operations[].path\` means the key \`path\` of each table in the list \`operations\`. \`<name>\` stands for a name that
you choose. A key in bold is required.

Editors complete and check the same keys with the JSON Schemas that
\`svc worlds schema json-schema --out schemas\` writes.
`;

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const code = (value: unknown): string => `\`${JSON.stringify(value)}\``;

/** Escapes text for a cell of a table. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

const boundsOf = ({ minimum, maximum }: Schema): string => {
  if (minimum === undefined && maximum === undefined) return '';
  if (maximum === undefined) return ` from ${minimum}`;
  return minimum === undefined ? ` to ${maximum}` : ` from ${minimum} to ${maximum}`;
};

const named: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  object: 'table',
  null: 'null',
};

/** Describes in a few words the values that a schema accepts. */
const kindOf = (schema: Schema): string => {
  if (Array.isArray(schema.enum)) return schema.enum.map(code).join(', ');
  if ('const' in schema) return code(schema.const);
  if (typeof schema.$ref === 'string') return 'a JSON Schema';
  const choices = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(choices) && schema.type === undefined) {
    return [...new Set(choices.filter(isSchema).map(kindOf))].join(', or ');
  }
  if (Array.isArray(schema.type)) return schema.type.map((type) => named[type]).join(' or ');
  if (schema.type === 'array') {
    return isSchema(schema.items) ? `list: ${kindOf(schema.items)}` : 'list';
  }
  return `${named[String(schema.type)] ?? 'any value'}${boundsOf(schema)}`;
};

/** Returns the schemas directly below a schema with their paths; does not follow references. */
const below = (
  schema: Schema,
  path: string,
): [path: string, schema: Schema, required: boolean][] => {
  const { properties, required, additionalProperties, items } = schema;
  const keys = isSchema(properties) ? Object.entries(properties) : [];
  const choices = [schema.oneOf, schema.anyOf].flat().filter(isSchema);
  return [
    ...keys.flatMap(([name, of]): [string, Schema, boolean][] =>
      isSchema(of)
        ? [[`${path}${name}`, of, Array.isArray(required) && required.includes(name)]]
        : [],
    ),
    ...(isSchema(additionalProperties)
      ? below(additionalProperties, `${path.replace(/\.$/, '')}.<name>.`)
      : []),
    ...(isSchema(items) ? below(items, `${path.replace(/\.$/, '')}[].`) : []),
    ...choices.flatMap((choice) => below(choice, path)),
  ];
};

const rowsOf = (schema: Schema, path: string): string[] =>
  below(schema, path).flatMap(([key, of, isRequired]) => {
    const shown = isRequired ? `**\`${key}\`**` : `\`${key}\``;
    const about = typeof of.description === 'string' ? of.description : '';
    const usual = of.default === undefined ? '' : ` Default: ${code(of.default)}.`;
    return [
      `| ${shown} | ${cell(kindOf(of))} | ${cell(about)}${usual} |`,
      ...rowsOf(of, `${key}.`),
    ];
  });

const sectionOf = (file: SchemaFile): string => {
  const rows = rowsOf(fileSchema(file) as Schema, '');
  return [`## ${file}`, '', '| Key | Value | Meaning |', '| - | - | - |', ...rows].join('\n');
};

/** Returns the current text of docs/write-worlds/keys.md. */
export const keysPage = (): string =>
  `${[intro, ...schemaFiles.map(sectionOf)].join('\n\n').replace('\n\n\n', '\n\n')}\n`;
