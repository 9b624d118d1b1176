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
  isLed: Type.Boolean({ description: 'whether an orchestrator keeps the pool at present' }),
  unknownWorlds: Type.Array(Type.String(), {
    description: 'those of its worlds that do not exist',
  }),
  hosts: Type.Object({
    starting: Type.Integer(),
    warm: Type.Integer(),
    assigned: Type.Integer(),
    recycling: Type.Integer(),
    draining: Type.Integer(),
  }),
  fresh: Type.Integer({
    description: 'warm hosts that hold no world yet, which are what `target` is about',
  }),
});
export type PoolReport = Static<typeof PoolReport>;

export const listPools = getOperation({
  id: 'listPools',
  summary: 'The pools of all installations, each with how many hosts it has by state',
  path: '/pools',
  access: 'admin',
  answer: Type.Object({
    pools: Type.Array(PoolReport),
    waitingSessions: Type.Integer({ description: 'sessions that no host has yet' }),
    longestWaitMs: Type.Number({
      description: 'wait of the oldest of them; 0 when there are none',
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
  versionId: nullable(Type.String({ description: 'the world version that it holds' })),
  world: nullable(
    Type.String({ description: 'the world of that version: `organization/project/slug`' }),
  ),
  versionNumber: nullable(Type.Integer({ description: "number of the world's version, from 1" })),
  uses: Type.Integer({ description: 'sessions that it was given so far' }),
  address: nullable(Type.String()),
  ageMs: Type.Number(),
  stateAgeMs: Type.Number({ description: 'since it entered its state' }),
  silentMs: nullable(Type.Number({ description: 'since its last message; null before the first' })),
  rssBytes: nullable(Type.Number({ description: 'memory that it last reported' })),
  endReason: nullable(Type.String({ description: 'why the host was drained or is gone' })),
  endDetail: nullable(Type.String()),
});
export type AdminHost = Static<typeof AdminHost>;

export const listHosts = getOperation({
  id: 'listHosts',
  summary: 'Hosts: those that are not gone, or of a given state; the newest in their state first',
  path: '/hosts',
  access: 'admin',
  query: Type.Object({
    pool: Type.Optional(Id),
    state: Type.Optional(oneOf(hostStates)),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 1_000 })),
  }),
  answer: Type.Object({
    hosts: Type.Array(AdminHost),
    total: Type.Integer({ description: 'how many match' }),
  }),
});

/** An import or publish job that has not ended. Ages are in milliseconds on the database's clock. */
export const AdminImport = Type.Object({
  id: Type.String({ description: 'id of its batch' }),
  kind: oneOf(['import', 'publish']),
  world: Type.String({ description: '`organization/project/slug`' }),
  state: oneOf(['queued', 'validating', 'applying']),
  ageMs: Type.Number({ description: 'since it was sealed' }),
  leaseMs: nullable(
    Type.Number({
      description:
        "time left of the worker's lease; negative: the worker is gone; null: the import is queued",
    }),
  ),
  attempts: Type.Integer({ description: 'workers that have held it' }),
  chunks: Type.Integer(),
  rows: Type.Number(),
  validatedChunks: Type.Integer(),
  appliedRows: Type.Number(),
});
export type AdminImport = Static<typeof AdminImport>;

export const listImports = getOperation({
  id: 'listImports',
  summary:
    'Imports and publishes that wait or are under way, in the order in which they were sealed',
  path: '/imports',
  access: 'admin',
  answer: Type.Object({
    imports: Type.Array(AdminImport, { description: 'the first 1,000' }),
    total: Type.Integer({ description: 'how many there are' }),
  }),
});

/** States in which an operator may drain a host. */
export const drainableStates: readonly HostState[] = ['starting', 'warm', 'assigned', 'recycling'];

export const drainHosts = operation({
  id: 'drainHosts',
  summary: 'Take hosts out of service: one, or those of a pool. Their pool replaces them',
  method: 'POST',
  path: '/drain',
  access: 'admin',
  body: Type.Object({
    hostId: Type.Optional(Id),
    installation: Type.Optional(
      Type.String({
        maxLength: limits.idChars,
        description: 'installation of the pool; absent: all installations that have it',
      }),
    ),
    pool: Type.Optional(Id),
    endSessions: Type.Boolean({
      description: 'whether hosts that serve a session are drained, too, which ends the session',
    }),
  }),
  answers: {
    200: Type.Object({
      drained: Type.Array(Type.String()),
      kept: Type.Array(Type.String(), {
        description: 'hosts that serve a session and were not drained',
      }),
    }),
  },
  refusals: {
    400: 'neither one host nor a pool is named',
    404: 'there is no such host, or no host in such a pool',
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
    'Whether the installation is well: database, clocks, blobs, orchestrators, pools, sessions',
  path: '/doctor',
  access: 'admin',
  answer: Type.Object({ checks: Type.Array(DoctorCheck) }),
});

export const checkBlobs = getOperation({
  id: 'checkBlobs',
  summary: 'Read the blobs of worlds, some at a time, and list those that hold other bytes or none',
  path: '/doctor/blobs',
  access: 'admin',
  query: Type.Object({
    after: Type.Optional(
      Type.String({ maxLength: limits.nameChars, description: 'the `next` of the answer before' }),
    ),
  }),
  answer: Type.Object({
    damaged: Type.Array(Type.Object({ world: Type.String(), blob: Type.String() })),
    place: Type.String({ description: 'location of the blobs, for people' }),
    looked: Type.Integer({ description: 'worlds whose blobs were read for this answer' }),
    total: Type.Integer({ description: 'worlds that there are' }),
    bytes: Type.Integer(),
    next: nullable(
      Type.String({ description: '`after` of the next request; null: all worlds have been read' }),
    ),
  }),
});
export type BlobsChecked = Static<(typeof checkBlobs)['answers'][200]>;

export const previewCollection = getOperation({
  id: 'previewCollection',
  summary: 'Which bytes will be collected, as only deleted worlds and dead uploads have them',
  path: '/blobs/collectable',
  access: 'admin',
  answer: Type.Object({
    graceMinutes: Type.Integer({ description: 'time for which a deleted world keeps its bytes' }),
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
          'deleted worlds that still have bytes, the next to be collected first; 100 at most',
      },
    ),
    totalWorlds: Type.Integer(),
    blobs: Type.Integer(),
    bytes: Type.Integer(),
    isLowerBound: Type.Boolean({ description: 'true: there are more than were counted' }),
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
