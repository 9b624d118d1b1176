/**
 * Checks tools. The two lists of tools must agree, their schemas must be usable, and each tool must have an
 * implementation. An implementation is looked up in this order: a function in `tools.py` or `tools.ts`, an operation, a
 * convention over an entity. Names of functions and operations cannot have `.` and `-`, so they have `_` in place of
 * both.
 */
import type { RouteContract, ToolBinding, ToolContract } from '../contract.ts';
import { type Connector, connectorFile, hasFaultyConnector } from '../files/connector-toml.ts';
import { type Environment, environmentFile } from '../files/svc-env-toml.ts';
import { type ToolTable, type WorldDeclaration, worldFile } from '../files/world-json.ts';
import { pathArguments } from '../path-segments.ts';
import { declaredFunctions } from '../read/functions.ts';
import type { Placed } from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import { suggestName } from '../read/suggest.ts';
import type { Tree } from '../read/tree.ts';
import type { CodeOfTree } from './code.ts';
import type { ToolSchemas } from './entities.ts';
import type { Model } from './model.ts';

const pythonFile = 'tools.py';
const typescriptFile = 'tools.ts';

type ToolSources = {
  tree: Tree;
  model: Model;
  schemas: ToolSchemas;
  routes: readonly RouteContract[];
  code: CodeOfTree;
  /** Connector as written; undefined if there is none, or if it cannot be read. */
  connector: Connector | undefined;
};

const compareLists = (world: WorldDeclaration, { serve, servePlace }: Environment): void => {
  if (serve === undefined) return;
  const served = new Set(serve);
  for (const [name, { place }] of world.tools) {
    if (served.has(name)) continue;
    const message = `the tool "${name}" is not in [tools] serve of ${environmentFile}`;
    place.refuse('tool_not_served', message, 'add the tool there, or remove its declaration');
  }
  for (const [index, name] of serve.entries()) {
    if (world.tools.has(name)) continue;
    const hint = suggestName(name, world.tools.keys());
    const message = `the tool "${name}" is not declared in ${worldFile}`;
    servePlace.at(index).refuse('tool_not_declared', message, hint);
  }
};

/** Refuses an input schema that does not describe an object of arguments. */
const checkInput = (place: Place, schema: ToolContract['input'], model: Model): void => {
  const types = model.types([schema]);
  if (types === undefined || (types.size === 1 && types.has('object'))) return;
  const message = 'the input of a tool must be a schema of an object';
  place.refuse('type_mismatch', message, 'add "type": "object"');
};

/** Refuses an input schema that lacks arguments that the operation's path names. */
const checkArguments = (
  place: Place,
  schema: ToolContract['input'],
  route: RouteContract,
  { analysis }: Model,
): void => {
  for (const name of pathArguments(route.segments)) {
    if (analysis.at(schema, [name]).length > 0) continue;
    const message = `the operation "${route.operation}" implements this tool and requires the argument "${name}" for ${route.path}`;
    place
      .at('input')
      .refuse('unknown_argument', message, 'declare the argument as a property of the input');
  }
};

/** Returns the shape of an operation's answer; undefined if user code decides the shape. */
const answerOf = (route: RouteContract): { type: 'object' | 'array'; key?: string } | undefined => {
  if (route.action === 'handler' || route.action === 'delete') return undefined;
  if (route.envelope !== '') return { type: 'object', key: route.envelope };
  return { type: route.single ? 'object' : 'array' };
};

/** Refuses an output schema that differs from the body of the operation's answer; the body includes the envelope. */
const checkOutput = (
  place: Place,
  output: ToolContract['output'],
  route: RouteContract,
  { analysis, ...model }: Model,
): void => {
  const answer = answerOf(route);
  const types = model.types([output]);
  if (answer === undefined || types === undefined) return;
  const { type, key } = answer;
  const hasKey = key === undefined || analysis.at(output, [key]).length > 0;
  if (types.has(type) && hasKey) return;
  const rows = key === undefined ? `an ${type}` : `an object with "${key}"`;
  const found = types.has(type) ? `an object without "${key}"` : [...types].join(' or ');
  const message = `the operation "${route.operation}" implements this tool and answers ${rows}, but the tool's output is declared as ${found}`;
  const hint = 'change the declared output, or envelope or single of the operation';
  place.at('output').refuse('type_mismatch', message, hint);
};

type Bind = (place: Place, name: string) => ToolBinding | undefined;

/** Returns true if the tool may be implemented by a file that has problems, so that its contents are unknown. */
const mayAnswer = (name: string, { tree, connector, code }: ToolSources): boolean => {
  const isUnread = connector === undefined && tree.has(connectorFile);
  const isWritten = connector?.operations.some(({ value }) => value.name === name) === true;
  return isUnread || isWritten || [pythonFile, typescriptFile].some(code.isUnreadable);
};

const createBind = (sources: ToolSources): Bind => {
  const { tree, model, routes } = sources;
  const functionsOf = (file: string) => declaredFunctions(file, tree.text(file) ?? '');
  const inPython = functionsOf(pythonFile);
  const inTypescript = functionsOf(typescriptFile);
  const operations = new Set(routes.map(({ operation }) => operation));

  const bindConvention = (name: string): ToolBinding | undefined => {
    const [, verb, entity] = /^(list|get|create|update|delete)_(.+)$/.exec(name) ?? [];
    if (entity === undefined || !model.entities.has(entity)) return undefined;
    type Verb = Extract<ToolBinding, { kind: 'convention' }>['verb'];
    return { kind: 'convention', verb: verb as Verb, entity };
  };

  return (place, name) => {
    const plain = name.replace(/[.-]/g, '_');
    if (inPython.has(plain) && inTypescript.has(plain)) {
      const message = `both ${pythonFile} and ${typescriptFile} have a function "${plain}"`;
      place.refuse('ambiguous_tool', message);
    }
    if (inPython.has(plain)) return { kind: 'python', file: pythonFile, function: plain };
    if (inTypescript.has(plain)) {
      return { kind: 'typescript', file: typescriptFile, function: plain };
    }
    if (operations.has(plain)) return { kind: 'operation', operation: plain };
    const convention = bindConvention(plain);
    if (convention !== undefined) return convention;
    if (mayAnswer(plain, sources)) return undefined;
    const message = `the tool "${name}" has no implementation`;
    const hint = `write a function ${plain} in ${pythonFile} or ${typescriptFile}, an operation "${plain}", or name it list_, get_, create_, update_ or delete_ and an entity (${[...model.entities.keys()].slice(0, 10).join(', ')})`;
    place.refuse('unimplemented_tool', message, hint);
    return undefined;
  };
};

const checkTool = (
  name: string,
  { place, value: table }: Placed<ToolTable>,
  bind: Bind,
  { tree, model, schemas, routes }: ToolSources,
): ToolContract[] => {
  const { input = {}, output = {} } = schemas.get(name) ?? {};
  if (table.input !== undefined) checkInput(table.input.place, input, model);
  const binding = bind(place, name);
  if (binding === undefined) return [];
  if (binding.kind === 'operation') {
    const route = routes.find(({ operation }) => operation === binding.operation);
    if (route !== undefined) {
      checkArguments(place, input, route, model);
      if (table.output !== undefined && !hasFaultyConnector(tree))
        checkOutput(place, output, route, model);
    }
  }
  const { description } = table;
  return [{ name, ...(description === undefined ? {} : { description }), input, output, binding }];
};

/** Returns the tools of the world, each with its implementation. */
export const checkTools = (
  world: WorldDeclaration,
  environment: Environment | undefined,
  sources: ToolSources,
): ToolContract[] => {
  if (environment !== undefined) compareLists(world, environment);
  const bind = createBind(sources);
  return [...world.tools].flatMap(([name, tool]) => checkTool(name, tool, bind, sources));
};
