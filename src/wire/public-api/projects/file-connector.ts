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
  'pull: files are copied from the folder or bucket into the project; push: from the project to the folder or bucket',
);

export const FileConnectorView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  kind: oneOf(connectorKinds),
  connectionId: nullable(
    Type.String({
      description:
        "keys of the connector's bucket, which other connectors may use; null: the connector has a folder",
    }),
  ),
  direction,
  targetPrefix: Type.String({
    description: 'the folder of the project that is synced; empty: the root',
  }),
  location: Type.String({ description: 'location of the folder or bucket, for people' }),
  agentAccess: Type.Boolean({
    description: 'whether the connector may be synced through this API and MCP',
  }),
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
    description: 'whether the connector may be synced through this API and MCP; default true',
  }),
);

const Bucket = Type.Object(
  {
    name: Type.String({
      maxLength: 63,
      pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$',
      description: 'name of the bucket',
    }),
    prefix: Type.Optional(
      FilePathText('prefix of the synced objects in the bucket; default: the whole bucket'),
    ),
    connectionId: Type.Optional(
      Type.String({
        maxLength: limits.idChars,
        description: 'id of another connector whose endpoint, region and keys this connector uses',
      }),
    ),
    endpoint: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2_048,
        description: 'an origin that speaks S3, such as https://s3.example.com; default: Amazon S3',
      }),
    ),
    region: Type.Optional(
      Type.String({
        maxLength: 32,
        pattern: '^[a-z0-9-]+$',
        description: 'region of the bucket; default us-east-1',
      }),
    ),
    accessKeyId: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    secretAccessKey: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1_024,
        description: 'the secret access key; it is never shown again',
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
    targetPrefix: Type.Optional(
      FilePathText('the folder of the project that is synced; default: the root'),
    ),
    agentAccess,
    folder: Type.Optional(
      FilePathText(
        'for a folder: its path below the directory that the operator assigned to the project',
      ),
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
  files: count('number of files that this sync copied'),
  status: oneOf(
    syncStatuses,
    'complete: source and target have equal files; partial: sync again to copy the rest; failed: see warnings',
  ),
  capture: Type.Object(
    {
      found: count('number of files at the source'),
      unchanged: count('number of files that the target had already'),
      failed: count('number of files that could not be copied, see warnings'),
      left: count('number of files still to copy'),
      bytes: count('total bytes of the copied files'),
    },
    { description: 'numbers of files found and copied' },
  ),
  warnings: Type.Array(
    Type.Object({
      path: Type.String({
        description: 'path of the file; empty: the warning is about the folder or bucket itself',
      }),
      message: Type.String(),
    }),
    { description: 'at most 100 warnings' },
  ),
});
export type SyncAnswer = Static<typeof SyncAnswer>;
