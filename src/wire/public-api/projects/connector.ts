/**
 * Request and answer schemas of connectors: versioned trees that an organization shares and from which its projects
 * make worlds.
 */

import { limits } from '#domain/limits.ts';
import { nullable, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { TreeFileBody } from '../worlds/world.ts';

export const ConnectorVersionView = Type.Object({
  slug: Type.String(),
  number: Type.Integer({ minimum: 1 }),
  contentHash: Type.String(),
  message: nullable(Type.String()),
  author: Type.String({ description: 'public key of the key pair that published the version' }),
  project: Type.String({ description: '`organization/project` that published the version' }),
  sizeBytes: Type.Integer({ minimum: 0, description: "total size of the version's files" }),
  createdAt: Timestamp,
});
export type ConnectorVersionView = Static<typeof ConnectorVersionView>;

export const ConnectorView = Type.Object({
  slug: Type.String(),
  from: Type.String({
    description: 'value of `from` when a world is created from the version: `workspace:<slug>`',
  }),
  name: Type.String(),
  description: Type.String(),
  latest: ConnectorVersionView,
  createdAt: Timestamp,
});
export type ConnectorView = Static<typeof ConnectorView>;

export const PublishConnectorBody = Type.Object(
  {
    world: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 140,
        description: 'a world of the project, or `<slug>@<version>`, whose files are published',
      }),
    ),
    files: Type.Optional(
      Type.Array(TreeFileBody, {
        maxItems: limits.treeFiles,
        description: "a tree to publish, instead of a world's files",
      }),
    ),
    description: Type.Optional(Type.String({ maxLength: 2_000 })),
    message: Type.Optional(Type.String({ maxLength: 2_000 })),
  },
  { additionalProperties: false },
);
export type PublishConnectorBody = Static<typeof PublishConnectorBody>;

export const PublishedConnector = Type.Interface([ConnectorView], {
  changed: Type.Boolean({
    description: 'false: the latest version already has these files, so none was published',
  }),
});
