/** Versions as clients see them: alone, in a list, with their files. */
import type { VersionDetail, VersionListView } from '#wire/public-api/worlds/version.ts';
import type { WorldView } from '#wire/public-api/worlds/world.ts';
import type { ListedVersion, ToldOfVersion } from '../../db/worlds/versions.ts';
import type { ManifestFile } from '../../db/worlds/worlds.ts';
import type { Version } from '../caches/versions.ts';

type Shown = Omit<ListedVersion, keyof ToldOfVersion | 'changes'>;

const viewShared = (version: Shown) => ({
  id: version.id,
  number: version.number,
  state: version.state,
  contentHash: version.contentHash,
  message: version.message,
  author: version.author,
  origin: version.origin,
  createdAt: version.createdAt.toISOString(),
});

/** The version within its world. */
export const viewVersion = (version: Version): WorldView['version'] => ({
  ...viewShared(version),
  entityCounts: version.entityCounts,
});

/** The version in the list of its world's. */
export const viewListedVersion = ({
  labels,
  tests,
  gate,
  changes,
  ...version
}: ListedVersion): VersionListView => ({
  ...viewShared(version),
  ...{ labels, tests, gate, changes },
});

/** The files of a version, with digests as hex alone. */
export const viewFiles = (files: readonly ManifestFile[]): VersionDetail['files'] =>
  files.map(({ path, sizeBytes, sha256 }) => ({
    path,
    sizeBytes,
    sha256: sha256.slice('sha256:'.length),
  }));

/** The version with its files and labels. */
export const viewVersionDetail = (
  version: Version,
  slug: string,
  told: ToldOfVersion,
): VersionDetail => ({
  ...viewVersion(version),
  slug,
  ...told,
  changes: version.changes,
  treeRows: version.treeRows,
  files: viewFiles(version.files),
});
