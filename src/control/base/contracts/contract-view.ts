/**
 * Converts a contract to the form that the API shows. Answers about a single world use it directly. Lists and sessions
 * use texts that are built when the world is compiled (see `db/worlds/version-summaries.ts`).
 */

import type { Static } from 'typebox';
import type { VersionLink } from '#domain/world.ts';
import { toolSchemasOf } from '#language/artifacts/tool-schemas.ts';
import { type Contract, type Dependency, linkedTool } from '#language/contract.ts';
import type { ToolView } from '#wire/public-api/sessions/session.ts';
import type { WorldView } from '#wire/public-api/worlds/world.ts';

/**
 * Names of a version's precomputed texts. `toolSchemas` contains the tools with their schemas as sessions show them;
 * `toolLengths` contains the length of each tool in that text, by name. Lists of worlds show the other texts: names of
 * tools and tasks, redaction, links to other worlds.
 */
export const versionTextNames = [
  'toolSchemas',
  'toolLengths',
  'tools',
  'tasks',
  'redact',
  'dependencies',
] as const;
export type VersionTextName = (typeof versionTextNames)[number];
export type VersionTexts = Record<VersionTextName, string>;

export type ContractFacts = {
  hasApi: boolean;
  hasUi: boolean;
  /** True if the API of the world has routes. Without routes it has no OpenAPI document. */
  hasRoutes: boolean;
  toolCount: number;
  taskCount: number;
};

const countOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0);

const isThere = (table: unknown): boolean => typeof table === 'object' && table !== null;

/** Returns the facts of a contract that lists of worlds show. */
export const factsOf = (contract: {
  api?: unknown;
  ui?: unknown;
  tools?: unknown;
  tasks?: unknown;
}): ContractFacts => ({
  hasApi: isThere(contract.api),
  hasUi: isThere(contract.ui),
  hasRoutes: countOf((contract.api as { routes?: unknown } | null | undefined)?.routes) > 0,
  toolCount: countOf(contract.tools),
  taskCount: countOf(contract.tasks),
});

/** Optional members of a world in a list, which are included if they are requested. */
export const worldFields = ['tools', 'tasks', 'redact', 'dependencies'] as const;
export type WorldField = (typeof worldFields)[number];

const viewDependency = (
  { alias, slug, ref, task, tools, entities }: Dependency,
  link: VersionLink | undefined,
): WorldView['dependencies'][number] => ({
  alias,
  slug,
  ref,
  version: link === undefined ? ref : String(link.number),
  versionId: link?.versionId ?? null,
  task,
  tools: link?.tools ?? tools ?? [],
  entities: Object.fromEntries(
    entities.map((one) => [`${one.entity}.${one.field}`, `${one.targetEntity}.${one.targetField}`]),
  ),
});

/**
 * Returns links in the form in which a world shows them. Links that are not resolved are shown as the world declares
 * them.
 */
export const viewDependencies = (
  dependencies: readonly Dependency[],
  links: readonly VersionLink[],
): WorldView['dependencies'] =>
  dependencies.map((dependency) =>
    viewDependency(
      dependency,
      links.find(({ alias }) => alias === dependency.alias),
    ),
  );

/** Returns a contract in the form in which a world shows it. */
export const viewContract = (
  contract: Contract,
  links: readonly VersionLink[] = [],
): Pick<WorldView, WorldField> => ({
  tools: contract.tools.map(({ name }) => name),
  tasks: contract.tasks.map(({ name }) => name),
  redact: contract.redact,
  dependencies: viewDependencies(contract.dependencies, links),
});

/** Builds the precomputed texts of a version with this contract. */
export const writeTexts = (contract: Contract): VersionTexts => {
  const view = viewContract(contract);
  const tools = viewTools(contract).map((tool) => ({
    name: tool.name,
    json: JSON.stringify(tool),
  }));
  return {
    toolSchemas: `[${tools.map(({ json }) => json).join(',')}]`,
    toolLengths: JSON.stringify(tools.map(({ name, json }) => [name, json.length])),
    tools: JSON.stringify(view.tools),
    tasks: JSON.stringify(view.tasks),
    redact: JSON.stringify(view.redact),
    dependencies: JSON.stringify(view.dependencies),
  };
};

/**
 * Returns the JSON text of the given tools only. Their texts are cut out of `toolSchemas` by the lengths in
 * `toolLengths`, in characters. Nothing is parsed, because the text may be large.
 */
export const pickTools = (
  toolSchemas: string,
  toolLengths: string,
  given: readonly string[],
): string => {
  const wanted = new Set(given);
  const picked: string[] = [];
  let at = '['.length;
  for (const [name, length] of JSON.parse(toolLengths) as [string, number][]) {
    if (wanted.has(name)) picked.push(toolSchemas.slice(at, at + length));
    at += length + ','.length;
  }
  return `[${picked.join(',')}]`;
};

type ToolTexts = Pick<VersionTexts, 'toolSchemas' | 'toolLengths'>;

/**
 * Appends the given tools of a linked version to the version's own tools. Each is renamed with the alias of the link.
 * The tools are cut out of the linked version's text as in `pickTools`; the text of each tool begins with its name.
 */
export const aliasTools = (
  own: ToolTexts,
  other: ToolTexts,
  alias: string,
  given: readonly string[],
): ToolTexts => {
  const wanted = new Set(given);
  const pieces = own.toolSchemas === '[]' ? [] : [own.toolSchemas.slice(1, -1)];
  const lengths = JSON.parse(own.toolLengths) as [string, number][];
  let at = '['.length;
  for (const [name, length] of JSON.parse(other.toolLengths) as [string, number][]) {
    if (wanted.has(name)) {
      const began = `{"name":${JSON.stringify(name)}`;
      const piece = other.toolSchemas.slice(at, at + length);
      if (!piece.startsWith(began)) throw new Error(`the text of tool ${name} lacks its name`);
      const linked = linkedTool(alias, name);
      const renamed = `{"name":${JSON.stringify(linked)}${piece.slice(began.length)}`;
      pieces.push(renamed);
      lengths.push([linked, renamed.length]);
    }
    at += length + ','.length;
  }
  return { toolSchemas: `[${pieces.join(',')}]`, toolLengths: JSON.stringify(lengths) };
};

/** Returns the tools of a contract in the contract's order. Each schema contains the definitions that it needs. */
export const viewTools = (contract: Contract): Static<typeof ToolView>[] =>
  toolSchemasOf(contract).map(({ input, output, ...tool }) => ({
    ...tool,
    inputSchema: input,
    outputSchema: output,
  }));
