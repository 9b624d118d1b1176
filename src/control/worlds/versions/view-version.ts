/**
 * Builds the views of versions that clients see: a single version, a version in a list, and a version with its files.
 */
import type { VersionDetail, VersionListView } from '#wire/public-api/worlds/version.ts';
import type { WorldView } from '#wire/public-api/worlds/world.ts';
import type { ListedVersion, VersionStatus } from '../../db/worlds/versions.ts';
import type { ManifestFile } from '../../db/worlds/worlds.ts';
import type { Version } from '../caches/versions.ts';

type Shown = Omit<ListedVersion, keyof VersionStatus | 'changes'>;

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

/** Returns the view of a version within its world. */
export const viewVersion = (version: Version): WorldView['version'] => ({
  ...viewShared(version),
  entityCounts: version.entityCounts,
});

/** Returns the view of a version as the list of its world's versions shows it. */
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

/** Returns the files of a version, with digests in hex without a prefix. */
export const viewFiles = (files: readonly ManifestFile[]): VersionDetail['files'] =>
  files.map(({ path, sizeBytes, sha256 }) => ({
    path,
    sizeBytes,
    sha256: sha256.slice('sha256:'.length),
  }));

/** Returns the view of a version with its files and labels. */
export const viewVersionDetail = (
  version: Version,
  slug: string,
  status: VersionStatus,
): VersionDetail => ({
  ...viewVersion(version),
  slug,
  ...status,
  changes: version.changes,
  treeRows: version.treeRows,
  files: viewFiles(version.files),
});
