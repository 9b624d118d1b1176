/** Versions of worlds as clients see them, and how they are addressed. */

import { versionOrigins } from '#domain/world.ts';
import { nullable, oneOf, Timestamp } from '../schemas.ts';
import { type Static, Type } from '../type.ts';

/** A world alone, for its head version, or one version of it. */
export const WorldParams = Type.Object({
  slug: Type.String({
    maxLength: 140,
    description:
      'a slug, or `<slug>@<version>`: a number, a label, the id of a version, or `latest`',
  }),
});

const Count = Type.Integer({ minimum: 0 });
const Names = Type.Array(Type.String());

/** What a version changed. */
export const VersionChanges = Type.Object({
  base: nullable(
    Type.Integer({ minimum: 1, description: 'the version that it was made from; null: none' }),
  ),
  files: Type.Object({ added: Count, changed: Count, removed: Count }),
  entities: Type.Object(
    { added: Names, changed: Names, removed: Names },
    { description: 'names of entities by what became of their contract, the first 20 of each' },
  ),
  rows: Type.Object({ before: Count, after: Count }),
});
export type VersionChanges = Static<typeof VersionChanges>;

const shared = {
  id: Type.String(),
  number: Type.Integer({ minimum: 1 }),
  state: Type.Literal('READY'),
  contentHash: Type.String(),
  message: nullable(Type.String()),
  author: nullable(Type.String({ description: 'public key of the key pair that made it' })),
  origin: oneOf(versionOrigins, 'what made it'),
  createdAt: Timestamp,
};

export const VersionView = Type.Object({
  ...shared,
  entityCounts: Type.Record(Type.String(), Count),
});

const told = {
  labels: Type.Array(Type.String(), { description: 'names given to it by `PUT …/labels/{label}`' }),
  changes: nullable(VersionChanges),
};

/** A version in the list of its world's. */
export const VersionListView = Type.Object({ ...shared, ...told });
export type VersionListView = Static<typeof VersionListView>;

export const FileView = Type.Object({
  path: Type.String(),
  sizeBytes: Type.Integer(),
  sha256: Type.String(),
});

/** A version with its files. */
export const VersionDetail = Type.Interface([VersionView], {
  ...told,
  slug: Type.String(),
  files: Type.Array(FileView),
});
export type VersionDetail = Static<typeof VersionDetail>;
