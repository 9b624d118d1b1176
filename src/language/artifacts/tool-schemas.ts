/**
 * Builds self-contained schemas, which include the definitions to which they refer. They are for readers without the
 * contract, such as an agent that sees the tools of its task.
 */
import { own } from '#domain/json.ts';
import type { Contract, JsonSchema } from '../contract.ts';
import { isTable } from '../read/values.ts';
import { definitionName, subschemasOf } from '../schema/keywords.ts';

/** Returns the schema with the definitions to which it refers in its `$defs`. */
const standaloneSchema = (schema: JsonSchema, definitions: Contract['definitions']): JsonSchema => {
  const needed = new Map<string, JsonSchema>();
  const collect = (part: unknown): void => {
    if (!isTable(part)) return;
    const name = definitionName(part.$ref);
    const target = name === undefined ? undefined : own(definitions, name);
    if (name !== undefined && isTable(target) && !needed.has(name)) {
      needed.set(name, target);
      collect(target);
    }
    for (const { schema: inner } of subschemasOf(part)) collect(inner);
  };
  collect(schema);
  return needed.size === 0 ? schema : { ...schema, $defs: Object.fromEntries(needed) };
};

export type ToolSchema = {
  name: string;
  description?: string;
  input: JsonSchema;
  output: JsonSchema;
};

/** Returns the tools of a contract for clients: without their implementation, and with self-contained schemas. */
export const toolSchemasOf = ({
  tools,
  definitions,
}: Pick<Contract, 'tools' | 'definitions'>): ToolSchema[] =>
  tools.map(({ name, description, input, output }) => ({
    name,
    ...(description === undefined ? {} : { description }),
    input: standaloneSchema(input, definitions),
    output: standaloneSchema(output, definitions),
  }));
