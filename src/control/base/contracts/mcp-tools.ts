/**
 * The tools of a world in the form that MCP has for them: schemas have an object at their root, and what a tool
 * returns that is no object (a list, most of all) is told as the member `result` of one. Schemas are strangers' work
 * and only taken apart and put together here; nobody evaluates them.
 */
import { isObject } from '#domain/json.ts';
import type { RouteAction, ToolBinding } from '#language/contract.ts';

type Schema = Record<string, unknown>;
type Definitions = Readonly<Record<string, unknown>>;

/** What stands for a value that is no object. */
export const wrapped = 'result';

/**
 * How an output is told: an `object` as it is, another value `wrapped`. `any` where the schema does not say: then an
 * object as it is, and of another value only its text.
 */
export type OutputForm = 'object' | 'wrapped' | 'any';

const definitionPrefix = '#/$defs/';

/** So many references lead from one to the next. */
const mostSteps = 50;

/** The schema with what it refers to in its place, where all of it is a reference. */
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

/** Members that only describe, and say nothing of the value. */
const notes = ['$schema', '$comment', '$defs', 'title', 'description', 'default', 'examples'];

const formOf = (root: Schema): OutputForm => {
  if (root.type === 'object') return 'object';
  return Object.keys(root).every((name) => notes.includes(name)) ? 'any' : 'wrapped';
};

/** How the output of a tool is told that has this schema. */
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

/** What worlds' schemas are written in, said where readers could take them for another. */
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

/** One tool as JSON text. */
export type McpTool = { name: string; json: string };

/** The tools of a session as MCP shows them, of their JSON text. */
export const mcpToolsOf = (toolSchemas: string): McpTool[] =>
  (JSON.parse(toolSchemas) as ShownTool[]).map((tool) => ({
    name: tool.name,
    json: JSON.stringify(toMcp(tool)),
  }));

/** What clients may know of a tool before they call it. */
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

/** What is known of a tool by who answers it; undefined where that is a function of the world. */
export const hintsOf = (
  binding: ToolBinding,
  actionOf: (operation: string) => RouteAction | undefined,
): ToolHints | undefined => {
  if (binding.kind === 'convention') return hintsByVerb[binding.verb];
  if (binding.kind !== 'operation') return undefined;
  const action = actionOf(binding.operation);
  return action === undefined ? undefined : hintsByAction[action];
};
