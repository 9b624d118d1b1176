/**
 * Contract between operators and the control plane: the state of the installation, its problems, and taking hosts out
 * of service. Base address: `{base_url}/api/admin`, bearer: the admin token, or the pool token if the installation has
 * no admin token. The API shows all projects, so clients must not use it.
 */
import { type HostState, hostStates } from '#domain/host.ts';
import { limits } from '#domain/limits.ts';
import { getOperation, operation } from '../operation.ts';
import { PublishedPool } from '../pool-api/operations.ts';
import { Id, nullable, oneOf, Timestamp } from '../schemas.ts';
import { type Static, Type } from '../type.ts';

/** A published pool with its hosts. */
export const PoolReport = Type.Interface([PublishedPool], {
  installation: Type.String(),
  isLed: Type.Boolean({ description: 'whether an orchestrator manages the pool at present' }),
  unknownWorlds: Type.Array(Type.String(), {
    description: 'worlds that the pool is to preload, but that do not exist',
  }),
  hosts: Type.Object({
    starting: Type.Integer(),
    warm: Type.Integer(),
    assigned: Type.Integer(),
    recycling: Type.Integer(),
    draining: Type.Integer(),
  }),
  fresh: Type.Integer({
    description: 'warm hosts without a loaded world; `target` is the desired number of these',
  }),
});
export type PoolReport = Static<typeof PoolReport>;

export const listPools = getOperation({
  id: 'listPools',
  summary: 'The pools of all installations, each with its number of hosts in each state',
  path: '/pools',
  access: 'admin',
  answer: Type.Object({
    pools: Type.Array(PoolReport),
    waitingSessions: Type.Integer({ description: 'sessions that wait for a host' }),
    longestWaitMs: Type.Number({
      description:
        'wait of the session that has waited longest, in milliseconds; 0 when there are none',
    }),
  }),
});

/** A host as an operator sees it. Ages are in milliseconds on the database's clock. */
export const AdminHost = Type.Object({
  id: Type.String(),
  installation: Type.String(),
  pool: Type.String(),
  runtime: Type.String(),
  state: oneOf(hostStates),
  sessionId: nullable(Type.String()),
  versionId: nullable(Type.String({ description: 'the world version that the host has loaded' })),
  world: nullable(
    Type.String({ description: 'the world of the loaded version: `organization/project/slug`' }),
  ),
  versionNumber: nullable(
    Type.Integer({ description: 'number of the loaded version of the world, from 1' }),
  ),
  uses: Type.Integer({ description: 'number of sessions that the host has served so far' }),
  address: nullable(Type.String()),
  ageMs: Type.Number(),
  stateAgeMs: Type.Number({ description: 'time since the host entered its state' }),
  silentMs: nullable(
    Type.Number({ description: "time since the host's last message; null before the first" }),
  ),
  rssBytes: nullable(Type.Number({ description: 'memory use that the host last reported' })),
  endReason: nullable(Type.String({ description: 'why the host was drained or is gone' })),
  endDetail: nullable(Type.String()),
});
export type AdminHost = Static<typeof AdminHost>;

export const listHosts = getOperation({
  id: 'listHosts',
  summary:
    'Hosts that are not gone, or those in a given state; ordered by the time they entered it, newest first',
  path: '/hosts',
  access: 'admin',
  query: Type.Object({
    pool: Type.Optional(Id),
    state: Type.Optional(oneOf(hostStates)),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 1_000 })),
  }),
  answer: Type.Object({
    hosts: Type.Array(AdminHost),
    total: Type.Integer({ description: 'number of hosts that match' }),
  }),
});

/** An import or publish job that has not ended. Ages are in milliseconds on the database's clock. */
export const AdminImport = Type.Object({
  id: Type.String({ description: 'id of the batch of the import or publish' }),
  kind: oneOf(['import', 'publish']),
  world: Type.String({ description: '`organization/project/slug`' }),
  state: oneOf(['queued', 'validating', 'applying']),
  ageMs: Type.Number({ description: 'time since the batch was sealed' }),
  leaseMs: nullable(
    Type.Number({
      description:
        "time left of the worker's lease; negative: the worker is gone; null: the job is queued",
    }),
  ),
  attempts: Type.Integer({ description: 'number of workers that have held the job' }),
  chunks: Type.Integer(),
  rows: Type.Number(),
  validatedChunks: Type.Integer(),
  appliedRows: Type.Number(),
});
export type AdminImport = Static<typeof AdminImport>;

export const listImports = getOperation({
  id: 'listImports',
  summary:
    'Imports and publishes that are queued or in progress, in the order in which they were sealed',
  path: '/imports',
  access: 'admin',
  answer: Type.Object({
    imports: Type.Array(AdminImport, { description: 'the first 1,000' }),
    total: Type.Integer({ description: 'number of such jobs in all' }),
  }),
});

/** States in which an operator may drain a host. */
export const drainableStates: readonly HostState[] = ['starting', 'warm', 'assigned', 'recycling'];

export const drainHosts = operation({
  id: 'drainHosts',
  summary: 'Take one host, or the hosts of a pool, out of service; the pool replaces them',
  method: 'POST',
  path: '/drain',
  access: 'admin',
  body: Type.Object({
    hostId: Type.Optional(Id),
    installation: Type.Optional(
      Type.String({
        maxLength: limits.idChars,
        description:
          "installation of the pool; if absent, the pool's hosts in all installations are drained",
      }),
    ),
    pool: Type.Optional(Id),
    endSessions: Type.Boolean({
      description:
        'whether hosts that serve a session are drained, too; draining one ends its session',
    }),
  }),
  answers: {
    200: Type.Object({
      drained: Type.Array(Type.String()),
      kept: Type.Array(Type.String(), {
        description: 'hosts that were not drained because they serve a session',
      }),
    }),
  },
  refusals: {
    400: 'the request names neither a host nor a pool',
    404: 'there is no such host, or the pool has no hosts',
    409: 'the host serves a session, and `endSessions` is false',
  },
});

const checkStatuses = ['ok', 'warning', 'failed'] as const;

/** Result of one check, with the fix for a problem. */
export const DoctorCheck = Type.Object({
  name: Type.String(),
  status: oneOf(checkStatuses),
  message: Type.String(),
  fix: nullable(Type.String()),
});
export type DoctorCheck = Static<typeof DoctorCheck>;

export const examine = getOperation({
  id: 'examine',
  summary:
    'Health checks of the installation: database, clocks, blobs, orchestrators, pools, sessions',
  path: '/doctor',
  access: 'admin',
  answer: Type.Object({ checks: Type.Array(DoctorCheck) }),
});

export const checkBlobs = getOperation({
  id: 'checkBlobs',
  summary:
    'Read the blobs of some worlds at a time, and list the blobs that are missing or have other contents',
  path: '/doctor/blobs',
  access: 'admin',
  query: Type.Object({
    after: Type.Optional(
      Type.String({
        maxLength: limits.nameChars,
        description: 'the `next` of the previous answer',
      }),
    ),
  }),
  answer: Type.Object({
    damaged: Type.Array(Type.Object({ world: Type.String(), blob: Type.String() })),
    place: Type.String({ description: 'location of the blobs, for people' }),
    looked: Type.Integer({ description: 'worlds whose blobs were read for this answer' }),
    total: Type.Integer({ description: 'total number of worlds' }),
    bytes: Type.Integer(),
    next: nullable(
      Type.String({ description: '`after` of the next request; null: all worlds have been read' }),
    ),
  }),
});
export type BlobsChecked = Static<(typeof checkBlobs)['answers'][200]>;

export const previewCollection = getOperation({
  id: 'previewCollection',
  summary:
    'Data that will be collected, because only deleted worlds or abandoned uploads refer to it',
  path: '/blobs/collectable',
  access: 'admin',
  answer: Type.Object({
    graceMinutes: Type.Integer({
      description: 'time for which the data of a deleted world is retained',
    }),
    worlds: Type.Array(
      Type.Object({
        world: Type.String(),
        deletedAt: Timestamp,
        keptUntil: Type.String({
          format: 'date-time',
          description:
            'earliest time of removal; later while a session of the world is open or a host holds it',
        }),
      }),
      {
        description:
          'deleted worlds that still have data, the next to be collected first; 100 at most',
      },
    ),
    totalWorlds: Type.Integer(),
    blobs: Type.Integer(),
    bytes: Type.Integer(),
    isLowerBound: Type.Boolean({
      description: 'true: there are more than were counted; counting stopped there',
    }),
    place: Type.String({ description: 'location of the blobs, for people' }),
  }),
});
export type CollectionView = Static<(typeof previewCollection)['answers'][200]>;

export {
  addOwner,
  createOrganization,
  giveQuotas,
  listOrganizations,
} from './organization-operations.ts';
