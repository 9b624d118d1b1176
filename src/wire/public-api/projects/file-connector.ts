/** Request and answer schemas of file connectors: folders and buckets with which project files are synced. */

import { limits } from '#domain/limits.ts';
import { nullable, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { ListMeta } from '../lists.ts';
import { FilePathText } from './file.ts';

export const connectorKinds = ['folder', 'bucket'] as const;
export const syncDirections = ['pull', 'push'] as const;
export const syncStatuses = ['complete', 'partial', 'failed'] as const;

const direction = oneOf(
  syncDirections,
  'pull: files of the place come into the project; push: files of the project go to the place',
);

export const FileConnectorView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  kind: oneOf(connectorKinds),
  connectionId: nullable(
    Type.String({
      description: 'the keys of its bucket, which other connectors may use; null: a folder',
    }),
  ),
  direction,
  targetPrefix: Type.String({ description: 'the folder of the project; empty: the root' }),
  location: Type.String({ description: 'location of the folder or bucket, for people' }),
  agentAccess: Type.Boolean({ description: 'whether it may be synced by this API and by MCP' }),
  lastSyncAt: nullable(Timestamp),
  lastStatus: nullable(oneOf(syncStatuses)),
  createdAt: Timestamp,
});
export type FileConnectorView = Static<typeof FileConnectorView>;

export const FileConnectorList = Type.Object({
  data: Type.Array(FileConnectorView),
  meta: ListMeta,
});

const connectorName = Type.String({ minLength: 1, maxLength: limits.nameChars });
const agentAccess = Type.Optional(
  Type.Boolean({
    description: 'whether it may be synced by this API and by MCP; true unless given',
  }),
);

const Bucket = Type.Object(
  {
    name: Type.String({
      maxLength: 63,
      pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$',
      description: 'name of the bucket',
    }),
    prefix: Type.Optional(FilePathText('prefix in the bucket; the whole bucket unless given')),
    connectionId: Type.Optional(
      Type.String({
        maxLength: limits.idChars,
        description: 'id of another connector, whose endpoint, region and keys this one uses',
      }),
    ),
    endpoint: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2_048,
        description: 'an origin that speaks S3, like https://s3.example.com; Amazon unless given',
      }),
    ),
    region: Type.Optional(
      Type.String({
        maxLength: 32,
        pattern: '^[a-z0-9-]+$',
        description: 'us-east-1 unless given',
      }),
    ),
    accessKeyId: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    secretAccessKey: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1_024,
        description: 'the secret; it is never shown again',
      }),
    ),
  },
  { additionalProperties: false },
);
export type BucketBody = Static<typeof Bucket>;

export const FileConnectorBody = Type.Object(
  {
    name: connectorName,
    kind: oneOf(connectorKinds),
    direction: Type.Optional(direction),
    targetPrefix: Type.Optional(FilePathText('the folder of the project; the root unless given')),
    agentAccess,
    folder: Type.Optional(
      FilePathText('for a folder: its path below the directory that the operator gave the project'),
    ),
    bucket: Type.Optional(Bucket),
  },
  { additionalProperties: false },
);
export type FileConnectorBody = Static<typeof FileConnectorBody>;

export const FileConnectorChange = Type.Object(
  { name: Type.Optional(connectorName), agentAccess },
  { additionalProperties: false },
);

export const SyncBody = Type.Object(
  { connectorId: Type.String({ maxLength: limits.idChars }) },
  { additionalProperties: false },
);

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const SyncAnswer = Type.Object({
  files: count('that this sync brought over'),
  status: oneOf(
    syncStatuses,
    'complete: both sides are equal; partial: sync again for the rest; failed: see warnings',
  ),
  capture: Type.Object(
    {
      found: count('files where they come from'),
      unchanged: count('those that were there already'),
      failed: count('those that could not be brought over, see warnings'),
      left: count('those that are still to come'),
      bytes: count('of the files that were brought over'),
    },
    { description: 'counts of files seen and copied' },
  ),
  warnings: Type.Array(
    Type.Object({
      path: Type.String({ description: 'path of the file; empty: the folder or bucket itself' }),
      message: Type.String(),
    }),
    { description: 'at most 100' },
  ),
});
export type SyncAnswer = Static<typeof SyncAnswer>;
