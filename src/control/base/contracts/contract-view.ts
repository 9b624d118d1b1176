/**
 * What the API shows of a contract: in answers about one world, and as texts that are made when the world is
 * compiled, for lists and sessions (see `db/worlds/version-summaries.ts`).
 */

import type { Static } from 'typebox';
import type { VersionLink } from '#domain/world.ts';
import { toolSchemasOf } from '#language/artifacts/tool-schemas.ts';
import { type Contract, type Dependency, linkedTool } from '#language/contract.ts';
import type { ToolView } from '#wire/public-api/sessions/session.ts';
import type { WorldView } from '#wire/public-api/worlds/world.ts';

/**
 * The texts of a version: its tools with their schemas as sessions show them, and what a list of worlds
 * shows: the names of tools and tasks, what is redacted, links to other worlds. `toolLengths` has the length of
 * each tool in the first of these, by its name.
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
  /** False for an API without routes, which has no OpenAPI document. */
  hasRoutes: boolean;
  toolCount: number;
  taskCount: number;
};

const countOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0);

const isThere = (table: unknown): boolean => typeof table === 'object' && table !== null;

/** What lists of worlds tell of a contract. */
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

/** Members of a world that a list shows when it is asked to. */
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

/** Links as a world shows them; those that were never resolved as they are written. */
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

/** The contract as a world shows it. */
export const viewContract = (
  contract: Contract,
  links: readonly VersionLink[] = [],
): Pick<WorldView, WorldField> => ({
  tools: contract.tools.map(({ name }) => name),
  tasks: contract.tasks.map(({ name }) => name),
  redact: contract.redact,
  dependencies: viewDependencies(contract.dependencies, links),
});

/** The texts of a version with this contract. */
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
 * Of the tools as JSON text those that a task gives, as JSON text. They are cut out by their lengths, in
 * characters by name (`toolLengths` of the version), and not parsed: the text may be large.
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
 * The tools of a version with some of another's behind them, under the names that they have by a link. These are cut out of
 * the other's text, as `pickTools` does; each begins with its name.
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

/** The tools of a contract, in its order; each schema stands for itself. */
export const viewTools = (contract: Contract): Static<typeof ToolView>[] =>
  toolSchemasOf(contract).map(({ input, output, ...tool }) => ({
    ...tool,
    inputSchema: input,
    outputSchema: output,
  }));
