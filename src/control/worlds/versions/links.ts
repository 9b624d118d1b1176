/**
 * Links of a world to versions of other worlds in its project. They are resolved when a version is created. A moving
 * reference, such as `latest` or a label, is then fixed to the version that it names at that time. Everything that a
 * link names must exist.
 */

import { AppError, type FieldProblem } from '#domain/error.ts';
import type { VersionLink } from '#domain/world.ts';
import { type Dependency, linkedTool } from '#language/contract.ts';
import { fieldNames } from '#language/entity-fields.ts';
import { suggestName } from '#language/read/suggest.ts';
import {
  aliasTools,
  type VersionTexts,
  viewDependencies,
} from '../../base/contracts/contract-view.ts';
import { findPathTo } from '../../db/worlds/version-links.ts';
import type { WorldRow } from '../../db/worlds/worlds.ts';
import type { Version } from '../caches/versions.ts';
import type { Built } from '../compile/build.ts';
import type { WorldParts } from '../parts.ts';
import { checkInUse, getVersionOf, getWorld } from './address.ts';
import type { Source } from './store-version.ts';

/**
 * Maximum number of links of one version. The number is limited because sessions of the version open each linked world,
 * too.
 */
const mostLinks = 16;

/** File of a tree that declares the links. */
const manifest = 'svc-env.toml';

/** World that has the links; its id is undefined if the world does not exist yet. */
export type LinkingWorld = { projectId: string; id: string | undefined; slug: string };

type Linking = {
  worldId: string | undefined;
  slug: string;
  dependencies: readonly Dependency[];
  /** Names of the world's own tools. */
  tools: readonly string[];
  /** Tools of linked worlds that tasks of this world name. */
  linkedTaskTools: readonly string[];
};

const problem = (path: readonly string[], message: string): FieldProblem => ({
  path: [manifest, 'dependencies', ...path],
  message,
});

const unknown = (what: string, name: string, known: Iterable<string>): string =>
  `${what} "${name}"; ${suggestName(name, known) ?? 'it has none'}`;

/** Returns a problem for each tool, task, entity and field that a link names and the linked world does not have. */
const checkNames = (
  { alias, slug, task, tools, entities }: Dependency,
  { contract, number }: Version,
): FieldProblem[] => {
  const version = `version ${number} of "${slug}"`;
  const names = {
    tools: contract.tools.map(({ name }) => name),
    tasks: contract.tasks.map(({ name }) => name),
    entities: contract.entities.map(({ name }) => name),
  };
  const problems: FieldProblem[] = [];
  if (task !== null && !names.tasks.includes(task)) {
    problems.push(problem([alias, 'task'], unknown(`${version} has no task`, task, names.tasks)));
  }
  for (const [index, tool] of (tools ?? []).entries()) {
    if (names.tools.includes(tool)) continue;
    const message = unknown(`${version} has no tool`, tool, names.tools);
    problems.push(problem([alias, 'tools', String(index)], message));
  }
  for (const { entity, field, targetEntity, targetField } of entities) {
    const path = [alias, 'entities', `${entity}.${field}`];
    const target = contract.entities.find(({ name }) => name === targetEntity);
    if (target === undefined) {
      const message = unknown(`${version} has no entity`, targetEntity, names.entities);
      problems.push(problem(path, message));
      continue;
    }
    const known = fieldNames(contract, target);
    if (!known.includes(targetField)) {
      const message = unknown(`${targetEntity} of ${version} has no field`, targetField, known);
      problems.push(problem(path, message));
    }
  }
  return problems;
};

/** Returns a problem for each link that leads back to the world itself. */
const checkCircle = async (
  { db }: WorldParts,
  { worldId, slug }: Linking,
  dependency: Dependency,
  target: Version,
): Promise<FieldProblem[]> => {
  if (worldId === undefined) return [];
  const path = await findPathTo(db, target.id, worldId);
  if (path === undefined) return [];
  const through =
    path.length === 0
      ? ''
      : `, whose link ${path.map((alias) => `"${alias}"`).join(' → ')} leads there`;
  const message = `the links form a circle: "${slug}" would be linked to itself by "${dependency.slug}@${dependency.ref}"${through}`;
  return [problem([dependency.alias], message)];
};

const findTarget = async (
  parts: WorldParts,
  projectId: string,
  { slug, ref }: Dependency,
): Promise<{ world: WorldRow; version: Version }> => {
  const world = await getWorld(parts, projectId, slug);
  checkInUse(world);
  return { world, version: await getVersionOf(parts, world, ref) };
};

type Resolved = { dependency: Dependency; target: Version } | { problems: FieldProblem[] };

const resolveOne = async (
  parts: WorldParts,
  projectId: string,
  linking: Linking,
  dependency: Dependency,
): Promise<Resolved> => {
  const { alias, slug } = dependency;
  if (linking.worldId === undefined && slug === linking.slug) {
    return {
      problems: [
        problem([alias], `the link leads back to its own world: "${slug}" is the world itself`),
      ],
    };
  }
  try {
    const { version: target } = await findTarget(parts, projectId, dependency);
    const problems = [
      ...checkNames(dependency, target),
      ...(await checkCircle(parts, linking, dependency, target)),
    ];
    return problems.length > 0 ? { problems } : { dependency, target };
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'unavailable') throw error;
    return { problems: [problem([alias, 'pin'], error.message)] };
  }
};

/** Returns the tools of the linked world that this world also serves. */
const servedTools = ({ tools }: Dependency, { contract }: Version): string[] =>
  tools ?? contract.tools.map(({ name }) => name);

/**
 * Returns a problem for each linked tool that has the name of one of the world's own tools, and for each tool that a
 * task names and no link serves.
 */
const checkTools = (linking: Linking, links: readonly VersionLink[]): FieldProblem[] => {
  const own = new Set(linking.tools);
  const served = new Set(
    links.flatMap(({ alias, tools }) => tools.map((tool) => linkedTool(alias, tool))),
  );
  const twins = links.flatMap(({ alias, tools }) =>
    tools
      .filter((tool) => own.has(linkedTool(alias, tool)))
      .map((tool) =>
        problem([alias, 'tools'], `the world has a tool "${linkedTool(alias, tool)}" of its own`),
      ),
  );
  const lacking = linking.linkedTaskTools
    .filter((name) => !served.has(name))
    .map((name) => problem([], unknown('a task gives the tool', name, served)));
  return [...twins, ...lacking];
};

const refused = (fields: readonly FieldProblem[]): AppError =>
  new AppError('invalid', `a link is refused: ${fields[0]?.message}`, {
    fields: fields.slice(0, 50),
  });

const resolveLinks = async (
  parts: WorldParts,
  projectId: string,
  linking: Linking,
): Promise<VersionLink[]> => {
  const { dependencies } = linking;
  if (dependencies.length > mostLinks) {
    const message = `the world has ${dependencies.length} links; the maximum is ${mostLinks}`;
    throw refused([problem([], message)]);
  }
  const links: VersionLink[] = [];
  const problems: FieldProblem[] = [];
  for (const dependency of dependencies) {
    const resolved = await resolveOne(parts, projectId, linking, dependency);
    if ('problems' in resolved) {
      problems.push(...resolved.problems);
      continue;
    }
    const { target } = resolved;
    const tools = servedTools(dependency, target);
    links.push({ alias: dependency.alias, versionId: target.id, number: target.number, tools });
  }
  if (problems.length === 0) problems.push(...checkTools(linking, links));
  if (problems.length > 0) throw refused(problems);
  return links;
};

const withLinkedTools = async (
  { versions }: WorldParts,
  texts: VersionTexts,
  projectId: string,
  links: readonly VersionLink[],
): Promise<Pick<VersionTexts, 'toolSchemas' | 'toolLengths'>> => {
  let { toolSchemas, toolLengths } = texts;
  for (const { alias, versionId, tools } of links) {
    const target = { id: versionId, projectId };
    const other = {
      toolSchemas: await versions.texts.one(target, 'toolSchemas'),
      toolLengths: await versions.texts.one(target, 'toolLengths'),
    };
    ({ toolSchemas, toolLengths } = aliasTools({ toolSchemas, toolLengths }, other, alias, tools));
  }
  return { toolSchemas, toolLengths };
};

/**
 * Resolves the links of a version that is being created, and adds the tools of linked worlds to the version's texts.
 * Throws `invalid` with everything that the links name and that does not exist.
 */
export const linkVersion = async (
  parts: WorldParts,
  { projectId, id: worldId, slug }: LinkingWorld,
  { dependencies, linkedTaskTools, texts }: Extract<Built, { ok: true }>,
): Promise<Pick<Source, 'links' | 'texts'>> => {
  if (dependencies.length === 0) return { links: [], texts };
  const tools = JSON.parse(texts.tools) as string[];
  const linking = { worldId, slug, dependencies, linkedTaskTools, tools };
  const links = await resolveLinks(parts, projectId, linking);
  const toolTexts = await withLinkedTools(parts, texts, projectId, links);
  const shown = JSON.stringify(viewDependencies(dependencies, links));
  return { links, texts: { ...texts, ...toolTexts, dependencies: shown } };
};
