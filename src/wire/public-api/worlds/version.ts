/** Request and answer schemas of versions of worlds, and the parameters that name a version. */

import { limits } from '#domain/limits.ts';
import { gateStates, versionOrigins } from '#domain/world.ts';
import { nullable, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { LatestTests } from '../evaluation/test-run.ts';

/** A world alone, which means its head version, or one version of it. */
export const WorldParams = Type.Object({
  slug: Type.String({
    maxLength: 140,
    description:
      'a slug, or `<slug>@<version>`: a number, a label, the id of a version, or `latest`',
  }),
});

const Count = Type.Integer({ minimum: 0 });
const Names = Type.Array(Type.String());

/** Changes of a version. */
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

const listed = {
  labels: Type.Array(Type.String(), { description: 'labels set by `PUT …/labels/{label}`' }),
  tests: nullable(LatestTests),
  gate: nullable(
    oneOf(
      gateStates,
      'of a version whose tests have to pass before it becomes the head; outdated: they passed when another was the head',
    ),
  ),
  changes: nullable(VersionChanges),
};

/** A version in the list of its world. */
export const VersionListView = Type.Object({ ...shared, ...listed });
export type VersionListView = Static<typeof VersionListView>;

export const FileView = Type.Object({
  path: Type.String(),
  sizeBytes: Type.Integer(),
  sha256: Type.String(),
});

/** A version with its files. */
export const VersionDetail = Type.Interface([VersionView], {
  ...listed,
  slug: Type.String(),
  treeRows: nullable(
    Type.Record(Type.String(), Count, {
      description: 'the part of `entityCounts` that came from the tree; null: not recorded',
    }),
  ),
  files: Type.Array(FileView),
});
export type VersionDetail = Static<typeof VersionDetail>;

const Sha256 = Type.String({
  maxLength: 64,
  pattern: '^[0-9a-f]{64}$',
  description: '64 hex digits',
});

/** Upper bound for a file of the largest size in base64. */
const fileChars = Math.ceil(limits.treeFileBytes / 3) * 4;

const PushedFile = Type.Object(
  {
    path: Type.String({ minLength: 1, maxLength: 1024 }),
    sha256: Sha256,
    content: Type.Optional(
      Type.String({
        maxLength: fileChars,
        description: 'content in base64; optional for a file that a version of the project has',
      }),
    ),
  },
  { additionalProperties: false },
);

export const PushBody = Type.Object(
  {
    base: Type.Integer({
      minimum: 1,
      maximum: 999_999_999,
      description:
        'number of the version that it is made from: it must still be the head, or wait at the gate to follow it',
    }),
    files: Type.Array(PushedFile, {
      maxItems: limits.treeFiles,
      description: 'the whole tree; files that are not in it are removed',
    }),
    data: Type.Optional(
      oneOf(
        ['keep', 'replace'],
        'what becomes of rows that did not come from the tree: kept unless it says `replace`',
      ),
    ),
    message: Type.Optional(Type.String({ maxLength: 2_000 })),
  },
  { additionalProperties: false },
);
export type PushBody = Static<typeof PushBody>;

export const PushView = Type.Interface([VersionDetail], {
  changed: Type.Boolean({
    description: 'false: an existing version equals the push, so none was created',
  }),
  keptRows: Count,
  leftOutRows: Type.Integer({
    minimum: 0,
    description: 'rows of the tree that kept rows of the same key replace',
  }),
  warnings: Type.Array(Type.String(), {
    description: 'probable mistakes of the version, and what its sessions lack',
  }),
});
export type PushView = Static<typeof PushView>;

export const ManifestBody = Type.Object(
  { sha256: Type.Array(Sha256, { maxItems: limits.treeFiles }) },
  { additionalProperties: false },
);

export const MissingView = Type.Object({
  slug: Type.String(),
  missing: Type.Array(Type.String(), { description: 'digests among them that must be sent' }),
  head: Type.Object({ id: Type.String(), number: Type.Integer({ minimum: 1 }) }),
});

const Reference = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'a number, a label, the id of a version, or `latest`',
});

export const PinBody = Type.Object(
  { bundle: Reference, label: Type.String({ maxLength: 64 }) },
  { additionalProperties: false },
);

export const BranchBody = Type.Object(
  {
    slug: Type.String({
      maxLength: limits.nameChars,
      description: 'of the new world: 1 to 64 lower-case letters, digits and inner hyphens',
    }),
    bundle: Type.Optional(Reference),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    description: Type.Optional(Type.String({ maxLength: 2_000 })),
    message: Type.Optional(Type.String({ maxLength: 2_000 })),
  },
  { additionalProperties: false },
);
export type BranchBody = Static<typeof BranchBody>;

export const RenameBody = Type.Object(
  {
    slug: Type.Optional(
      Type.String({
        maxLength: limits.nameChars,
        description: '1 to 64 lower-case letters, digits and inner hyphens',
      }),
    ),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    description: Type.Optional(
      Type.String({ maxLength: 2_000, description: 'an empty text removes it' }),
    ),
  },
  { additionalProperties: false },
);
export type RenameBody = Static<typeof RenameBody>;

export const LabelParams = Type.Object({
  slug: Type.String({ maxLength: 64 }),
  label: Type.String({
    maxLength: 64,
    description: 'lower-case letters, digits, and inner dots, hyphens and underscores',
  }),
});

export const LabelBody = Type.Object(
  {
    version: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'a number, another label, the id of a version, or `latest`',
    }),
  },
  { additionalProperties: false },
);

export const LabelView = Type.Object({
  label: Type.String(),
  slug: Type.String(),
  versionId: Type.String(),
  number: Type.Integer({ minimum: 1 }),
});
export type LabelView = Static<typeof LabelView>;
