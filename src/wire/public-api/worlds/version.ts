/** Request and answer schemas of versions of worlds, and the parameters that name a version. */

import { limits } from '#domain/limits.ts';
import { gateStates, versionOrigins } from '#domain/world.ts';
import { nullable, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { LatestTests } from '../evaluation/test-run.ts';

/** Path parameter that names a world, which means its head version, or one version of it. */
export const WorldParams = Type.Object({
  slug: Type.String({
    maxLength: 140,
    description:
      'a slug, or `<slug>@<version>`, where the version is a number, a label, an id, or `latest`',
  }),
});

const Count = Type.Integer({ minimum: 0 });
const Names = Type.Array(Type.String());

/** Differences between a version and the one that it was made from. */
export const VersionChanges = Type.Object({
  base: nullable(
    Type.Integer({
      minimum: 1,
      description: 'number of the version that this one was made from; null: none',
    }),
  ),
  files: Type.Object({ added: Count, changed: Count, removed: Count }),
  entities: Type.Object(
    { added: Names, changed: Names, removed: Names },
    {
      description:
        'names of the entities whose contracts were added, changed or removed, the first 20 of each',
    },
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
  author: nullable(
    Type.String({ description: 'public key of the key pair that created the version' }),
  ),
  origin: oneOf(versionOrigins, 'kind of the operation that created the version'),
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
      'state of a version whose tests must pass before it becomes the head; outdated: the tests passed, but meanwhile another version had become the head',
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
      description:
        'the numbers of rows in `entityCounts` that came from the tree; null: not recorded',
    }),
  ),
  files: Type.Array(FileView),
});
export type VersionDetail = Static<typeof VersionDetail>;

const Sha256 = Type.String({
  maxLength: 64,
  pattern: '^[0-9a-f]{64}$',
  description: 'SHA-256 of the file, as 64 hex digits',
});

/** Maximum length in base64 of a file of the largest allowed size. */
const fileChars = Math.ceil(limits.treeFileBytes / 3) * 4;

const PushedFile = Type.Object(
  {
    path: Type.String({ minLength: 1, maxLength: 1024 }),
    sha256: Sha256,
    content: Type.Optional(
      Type.String({
        maxLength: fileChars,
        description:
          'content in base64; may be left out if a version of the project contains the file',
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
        'number of the version that the tree is based on: it must be the head, or wait for its tests to become the head',
    }),
    files: Type.Array(PushedFile, {
      maxItems: limits.treeFiles,
      description: 'the whole tree; files that are not in the list are removed',
    }),
    data: Type.Optional(
      oneOf(
        ['keep', 'replace'],
        'treatment of existing rows that did not come from the tree: they are kept, or with `replace` removed; default keep',
      ),
    ),
    message: Type.Optional(Type.String({ maxLength: 2_000 })),
  },
  { additionalProperties: false },
);
export type PushBody = Static<typeof PushBody>;

export const PushView = Type.Interface([VersionDetail], {
  changed: Type.Boolean({
    description:
      'false: an existing version is equal to the pushed tree, so no version was created',
  }),
  keptRows: Count,
  leftOutRows: Type.Integer({
    minimum: 0,
    description:
      'number of rows of the tree that are left out, because kept rows have the same key',
  }),
  warnings: Type.Array(Type.String(), {
    description: 'probable mistakes in the version, and features that its sessions will lack',
  }),
});
export type PushView = Static<typeof PushView>;

export const ManifestBody = Type.Object(
  { sha256: Type.Array(Sha256, { maxItems: limits.treeFiles }) },
  { additionalProperties: false },
);

export const MissingView = Type.Object({
  slug: Type.String(),
  missing: Type.Array(Type.String(), {
    description: 'those of the given digests whose files must be sent',
  }),
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
      description: 'slug of the new world: 1 to 64 lower-case letters, digits and inner hyphens',
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
        description: 'slug: 1 to 64 lower-case letters, digits and inner hyphens',
      }),
    ),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    description: Type.Optional(
      Type.String({ maxLength: 2_000, description: 'description; an empty text removes it' }),
    ),
  },
  { additionalProperties: false },
);
export type RenameBody = Static<typeof RenameBody>;

export const LabelParams = Type.Object({
  slug: Type.String({ maxLength: 64 }),
  label: Type.String({
    maxLength: 64,
    description:
      'name of the label: lower-case letters, digits, and inner dots, hyphens and underscores',
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
