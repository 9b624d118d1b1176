/**
 * Schemas that stand alone: with the definitions they refer to beside them, for readers who have no
 * contract at hand, such as an agent that is shown its tools.
 */
import { own } from '#domain/json.ts';
import type { Contract, JsonSchema } from '../contract.ts';
import { isTable } from '../read/values.ts';
import { definitionName, subschemasOf } from '../schema/keywords.ts';

/** The schema with those definitions that it needs in its `$defs`. */
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

/** The tools of a contract as clients see them: without who answers them, schemas standing alone. */
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
