/** A world as clients see it, from its row and its head version. */
import type { Static } from 'typebox';
import type { Contract, Dependency, Task } from '#language/contract.ts';
import type { BundledTaskView, WorldDetail, WorldView } from '#wire/public-api/world.ts';
import type { WorldRow } from '../db/worlds.ts';
import type { Version } from './versions.ts';
import { warningsOf } from './warnings.ts';

const viewVersion = (version: Version): WorldView['version'] => ({
  id: version.id,
  number: version.number,
  state: version.state,
  contentHash: version.contentHash,
  message: version.message,
  createdAt: version.createdAt.toISOString(),
  entityCounts: version.entityCounts,
});

const viewLinks = (publicUrl: string, slug: string): WorldView['links'] => {
  const api = `${publicUrl}/api/public`;
  return {
    api: `${api}/worlds/${slug}/openapi.json`,
    world: `${api}/worlds/${slug}`,
    tasks: `${api}/worlds/${slug}/tasks`,
    sessions: `${api}/world-sessions?world=${slug}`,
  };
};

const viewDependency = ({
  ref,
  entities,
  ...link
}: Dependency): WorldView['dependencies'][number] => ({
  ...link,
  version: ref,
  entities: Object.fromEntries(
    entities.map((one) => [`${one.entity}.${one.field}`, `${one.targetEntity}.${one.targetField}`]),
  ),
});

/** Where a world is: the address of the service, and the `organization/project` that it is in. */
export type WorldPlace = { publicUrl: string; project: string };

/** The world with its head version. */
export const viewWorld = (
  world: WorldRow,
  head: Version,
  { publicUrl, project }: WorldPlace,
): WorldView => ({
  id: world.id,
  containerId: world.id,
  slug: world.slug,
  path: `${project}/${world.slug}`,
  kind: world.kind,
  name: world.name,
  description: world.description,
  version: viewVersion(head),
  surfaces: head.surfaces,
  tools: head.contract.tools.map(({ name }) => name),
  tasks: head.contract.tasks.map(({ name }) => name),
  url: `${publicUrl}/world/${world.slug}`,
  links: viewLinks(publicUrl, world.slug),
  redact: head.contract.redact,
  dependencies: head.contract.dependencies.map(viewDependency),
  createdAt: world.createdAt.toISOString(),
});

/** The same with the head version's files. */
export const viewWorldDetail = (
  world: WorldRow,
  head: Version,
  place: WorldPlace,
): WorldDetail => ({
  ...viewWorld(world, head, place),
  warnings: warningsOf(head.contract),
  files: head.files.map(({ path, sizeBytes, sha256 }) => ({
    path,
    sizeBytes,
    sha256: sha256.slice('sha256:'.length),
  })),
});

const countRows = (rows: Task['seed']['rows']): Record<string, number> =>
  Object.fromEntries(Object.entries(rows).map(([entity, list]) => [entity, list.length]));

/** The bundled tasks of a contract; a task without tools of its own has them all. */
export const viewTasks = ({ tasks, tools }: Contract): Static<typeof BundledTaskView>[] =>
  tasks.map(({ name, description, instruction, tools: own, seed, grader }) => ({
    name,
    description,
    instruction,
    tools: own ?? tools.map((tool) => tool.name),
    seed: { mode: seed.mode, counts: countRows(seed.rows) },
    grader: grader?.kind ?? null,
  }));
