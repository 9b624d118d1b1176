/**
 * Converts the tools of a world to MCP's form. In MCP, the root of a schema must be an object. An output of any other
 * type (usually a list) becomes the member `result` of an object. Schemas are user input: this code only rearranges
 * them and never evaluates them.
 */
import { isObject } from '#domain/json.ts';
import type { RouteAction, ToolBinding } from '#language/contract.ts';

type Schema = Record<string, unknown>;
type Definitions = Readonly<Record<string, unknown>>;

/** Name of the member that contains an output which is no object. */
export const wrapped = 'result';

/**
 * Form in which an output is returned. `object`: unchanged. `wrapped`: as a member of an object. `any`, if the schema
 * does not determine the type: an object unchanged, any other value only as text.
 */
export type OutputForm = 'object' | 'wrapped' | 'any';

const definitionPrefix = '#/$defs/';

/** Maximum length of a chain of references that is followed. */
const mostSteps = 50;

/** Returns the schema to which a schema refers; a schema that is no reference is returned unchanged. */
const resolveRoot = (schema: unknown, definitions: Definitions): Schema => {
  let found = isObject(schema) ? schema : {};
  for (let step = 0; step < mostSteps; step += 1) {
    const { $ref, ...others } = found;
    if (typeof $ref !== 'string' || !$ref.startsWith(definitionPrefix)) return found;
    const name = $ref.slice(definitionPrefix.length);
    const target = Object.hasOwn(definitions, name) ? definitions[name] : {};
    found = { ...(isObject(target) ? target : {}), ...others };
  }
  return {};
};

/** Keywords that only annotate a schema and do not constrain its values. */
const notes = ['$schema', '$comment', '$defs', 'title', 'description', 'default', 'examples'];

const formOf = (root: Schema): OutputForm => {
  if (root.type === 'object') return 'object';
  return Object.keys(root).every((name) => notes.includes(name)) ? 'any' : 'wrapped';
};

/** Returns the form in which MCP answers contain an output with this schema. */
export const outputFormOf = (schema: unknown, definitions: Definitions): OutputForm =>
  formOf(resolveRoot(schema, definitions));

type ShownTool = {
  name: string;
  description?: string;
  inputSchema: unknown;
  outputSchema: unknown;
};

const definitionsOf = (schema: unknown): Definitions =>
  isObject(schema) && isObject(schema.$defs) ? schema.$defs : {};

/** Dialect of the schemas of worlds. It is stated because clients could assume another dialect. */
const dialect = 'https://json-schema.org/draft/2020-12/schema';

const inputOf = (schema: unknown): Schema => {
  const definitions = definitionsOf(schema);
  const needed = Object.keys(definitions).length === 0 ? {} : { $defs: definitions };
  const root = resolveRoot(schema, definitions);
  return { $schema: dialect, ...root, ...needed, type: 'object' };
};

const outputOf = (schema: unknown): Schema | undefined => {
  const definitions = definitionsOf(schema);
  const root = resolveRoot(schema, definitions);
  const form = formOf(root);
  const needed = Object.keys(definitions).length === 0 ? {} : { $defs: definitions };
  if (form === 'object') return { ...root, ...needed };
  if (form === 'any') return undefined;
  const { $defs: _, ...own } = root;
  return { type: 'object', properties: { [wrapped]: own }, required: [wrapped], ...needed };
};

const toMcp = ({ name, description, inputSchema, outputSchema }: ShownTool): object => {
  const output = outputOf(outputSchema);
  return {
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema: inputOf(inputSchema),
    ...(output === undefined ? {} : { outputSchema: output }),
  };
};

/** Tool as JSON text. */
export type McpTool = { name: string; json: string };

/** Converts the tools of a session, given as JSON text, to MCP's form. */
export const mcpToolsOf = (toolSchemas: string): McpTool[] =>
  (JSON.parse(toolSchemas) as ShownTool[]).map((tool) => ({
    name: tool.name,
    json: JSON.stringify(toMcp(tool)),
  }));

/** Hints for MCP clients about the effects of a tool. */
export type ToolHints = {
  readOnlyHint: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
};

const hintsByAction: Record<RouteAction, ToolHints | undefined> = {
  read: { readOnlyHint: true },
  create: { readOnlyHint: false, destructiveHint: false },
  update: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  delete: { readOnlyHint: false, destructiveHint: true },
  handler: undefined,
};
const hintsByVerb = {
  list: hintsByAction.read,
  get: hintsByAction.read,
  create: hintsByAction.create,
  update: hintsByAction.update,
  delete: hintsByAction.delete,
};

/**
 * Returns the hints that follow from the binding of the tool; undefined if the tool is bound to a function of the
 * world.
 */
export const hintsOf = (
  binding: ToolBinding,
  actionOf: (operation: string) => RouteAction | undefined,
): ToolHints | undefined => {
  if (binding.kind === 'convention') return hintsByVerb[binding.verb];
  if (binding.kind !== 'operation') return undefined;
  const action = actionOf(binding.operation);
  return action === undefined ? undefined : hintsByAction[action];
};
