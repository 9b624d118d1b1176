/** Builds the view of a world that clients see, from the world's row and a version. */

import type { Static } from 'typebox';
import type { Contract } from '#language/contract.ts';
import type { Task } from '#language/task.ts';
import type {
  BundledTaskView,
  TaskListView,
  WorldDetail,
  WorldListView,
  WorldView,
} from '#wire/public-api/worlds/world.ts';
import { viewContract, type WorldField } from '../../base/contracts/contract-view.ts';
import { JsonText } from '../../base/json/json-text.ts';
import { createSizeBudget, writeInto } from '../../base/json/page-budget.ts';
import type { ListedWorld, WorldRow } from '../../db/worlds/worlds.ts';
import { servedSurfaces, type Version, type Versions } from '../caches/versions.ts';
import { viewFiles, viewVersion } from './view-version.ts';

const viewLinks = (publicUrl: string, slug: string, hasRoutes: boolean): WorldView['links'] => {
  const api = `${publicUrl}/api/public`;
  return {
    api: hasRoutes ? `${api}/worlds/${slug}/openapi.json` : null,
    world: `${api}/worlds/${slug}`,
    tasks: `${api}/worlds/${slug}/tasks`,
    sessions: `${api}/world-sessions?world=${slug}`,
  };
};

/** Parts of a world's address: the public URL of the service, and the world's project as `organization/project`. */
export type WorldAddress = { publicUrl: string; project: string };

/** Returns the members of a world's view that do not depend on its contract. */
const viewLight = (world: WorldRow, { publicUrl, project }: WorldAddress, hasRoutes: boolean) => ({
  id: world.id,
  containerId: world.id,
  slug: world.slug,
  path: `${project}/${world.slug}`,
  kind: world.kind,
  name: world.name,
  description: world.description,
  url: `${publicUrl}/world/${world.slug}`,
  links: viewLinks(publicUrl, world.slug, hasRoutes),
  archivedAt: world.archivedAt?.toISOString() ?? null,
  createdAt: world.createdAt.toISOString(),
});

/** Returns the view of a world with one of its versions. */
const viewWorld = (world: WorldRow, version: Version, address: WorldAddress): WorldView => ({
  ...viewLight(world, address, version.openApi !== undefined),
  version: viewVersion(version),
  surfaces: version.surfaces,
  ...viewContract(version.contract, version.links),
});

const viewListedVersion = (world: ListedWorld): WorldView['version'] => ({
  ...world.head,
  createdAt: world.headCreatedAt.toISOString(),
  entityCounts: new JsonText(world.entityCounts ?? '{}') as unknown as Record<string, number>,
});

/**
 * Returns the views of a page of worlds. Members from the contracts are read only if they are requested and fit the
 * size budget.
 */
export const viewWorldList = async (
  versions: Versions,
  worlds: readonly ListedWorld[],
  address: WorldAddress,
  fields: readonly WorldField[],
): Promise<WorldListView[]> => {
  const entries = worlds.map(({ headVersionId }) => ({ versionId: headVersionId, otherBytes: 0 }));
  const texts = await versions.texts.page(entries, fields);
  return worlds.map((world, at) => {
    const text = texts[at];
    const shown = Object.entries(text ?? {}).map(([field, json]) => [field, new JsonText(json)]);
    const omitted = [
      ...(text === undefined ? fields : []),
      ...(world.entityCounts === null ? ['version.entityCounts'] : []),
    ];
    return {
      ...viewLight(world, address, world.hasRoutes),
      version: viewListedVersion(world),
      surfaces: servedSurfaces(world),
      toolCount: world.toolCount,
      taskCount: world.taskCount,
      ...(Object.fromEntries(shown) as Partial<Pick<WorldView, WorldField>>),
      ...(omitted.length === 0 ? {} : { omitted }),
    };
  });
};

/** Returns the view of a world and its head, with the files of the given version. */
export const viewWorldDetail = (
  world: WorldRow,
  { version, head }: { version: Version; head: WorldDetail['head'] },
  address: WorldAddress,
): WorldDetail => ({
  ...viewWorld(world, version, address),
  head,
  warnings: version.warnings,
  files: viewFiles(version.files),
});

const countRows = (rows: Task['seed']['rows']): Record<string, number> =>
  Object.fromEntries(Object.entries(rows).map(([entity, list]) => [entity, list.length]));

type TaskView = Static<typeof BundledTaskView>;

/**
 * Optional members of a task in a list, which are included if they are requested. If the size budget allows it, `tools`
 * is included in any case.
 */
export const taskFields = ['instruction', 'tools'] as const;
type TaskField = (typeof taskFields)[number];

/** Members that every task has; they are empty if the size budget is used up. */
const steadyFields = ['description', 'seed.counts'] as const;

const writeSteady =
  ({ description, seed }: Task) =>
  (field: (typeof steadyFields)[number]): string =>
    JSON.stringify(field === 'description' ? description : countRows(seed.rows));

const viewSteady = (
  { name, seed, grader }: Task,
  texts: ReadonlyMap<string, string>,
): Omit<TaskView, TaskField> => {
  const counts = new JsonText(texts.get('seed.counts') ?? '{}');
  return {
    name,
    description: new JsonText(texts.get('description') ?? 'null') as unknown as string,
    seed: { mode: seed.mode, counts: counts as unknown as Record<string, number> },
    grader: grader?.kind ?? null,
  };
};

/**
 * Returns a page of the tasks bundled in a contract. A task without a list of tools may use all tools. The size budget
 * is spent first on the members that every task has, then on the requested ones. Members beyond the budget are left out
 * and not serialized.
 */
export const viewTasks = (
  { tools }: Pick<Contract, 'tools'>,
  tasks: readonly Task[],
  fields: readonly TaskField[],
): TaskListView[] => {
  const allTools = JSON.stringify(tools.map((tool) => tool.name));
  const budget = createSizeBudget();
  const takeSteady = writeInto(budget);
  const steady = tasks.map((task) => takeSteady(steadyFields, writeSteady(task)));
  const budgetOfTools = createSizeBudget(budget.left());
  const takeTools = writeInto(budgetOfTools);
  const ofTools = tasks.map((task) =>
    takeTools(['tools'], () => (task.tools === null ? allTools : JSON.stringify(task.tools))),
  );
  const asked = fields.filter((field) => field === 'instruction');
  const takeAsked = writeInto(createSizeBudget(budgetOfTools.left()));
  return tasks.map((task, at) => {
    const heavy = takeAsked(asked, () => JSON.stringify(task.instruction));
    const texts = [...(ofTools[at] ?? []), ...(heavy ?? [])];
    const shown = texts.map(([field, text]) => [field, new JsonText(text)]);
    const omitted = [
      ...(steady[at] ? [] : steadyFields),
      ...(ofTools[at] ? [] : (['tools'] as const)),
      ...(heavy ? [] : asked),
    ];
    return {
      ...viewSteady(task, new Map(steady[at])),
      ...(Object.fromEntries(shown) as Partial<Pick<TaskView, TaskField>>),
      ...(omitted.length === 0 ? {} : { omitted }),
    };
  });
};
