/** Lists the files of the surface `ui` of a version for its host, and checks the host's access to each file. */
import type { Digest } from '#domain/world.ts';
import type { Assignment } from '#wire/host-api/assignment.ts';
import { findHostWork } from '../../db/sessions/hosts.ts';
import type { Version } from '../../worlds/caches/versions.ts';
import type { SessionParts } from '../parts.ts';

type PageFiles = NonNullable<Assignment['ui']>['files'];

/** Returns the files with paths relative to the UI folder; none if the world has no UI. */
export const pageFilesOf = ({ contract: { ui }, files }: Version): PageFiles => {
  if (ui === null) return [];
  const folder = `${ui.static}/`;
  return files
    .filter(({ path }) => path.startsWith(folder))
    .map(({ path, ...file }) => ({ ...file, path: path.slice(folder.length) }));
};

/** Returns true if the blob is a file of the page that the given host serves. */
export const isPageFile = async (
  { db, versions }: SessionParts,
  hostId: string,
  digest: Digest,
): Promise<boolean> => {
  const session = (await findHostWork(db, hostId))?.session;
  if (session == null || !session.surfaces.includes('ui')) return false;
  const version = await versions.get(session.versionId);
  return version !== undefined && pageFilesOf(version).some(({ sha256 }) => sha256 === digest);
};
