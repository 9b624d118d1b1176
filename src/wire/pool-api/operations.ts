/**
 * Contract between the orchestrator and the control plane. Base address: `{base_url}/api/pool`, bearer: the pool
 * token. The orchestrator reports the state of its container runtime; the control plane alone decides what that means
 * for sessions.
 */

import { hostKinds, hostStates } from '#domain/host.ts';
import { hostAddressings } from '#domain/host-address.ts';
import { limits } from '#domain/limits.ts';
import { isolations } from '#domain/pool.ts';
import { browserTiers } from '#domain/session.ts';
import { operation } from '../operation.ts';
import { Id, nullable, oneOf } from '../schemas.ts';
import { type Static, Type } from '../type.ts';

const HostParams = Type.Object({ hostId: Id });
/** Reason of an action, such as the end reason of a host, as a single word. */
const Reason = Type.String({ maxLength: limits.nameChars });
/** Names of installations, pools and sizes. */
const PoolName = Type.String({ minLength: 1, maxLength: 64 });

/**
 * Lease under which an orchestrator acts. A request with a lease is refused with `forbidden` once the lease was given to
 * another orchestrator. A request without a lease, as the previous release sends it, is not checked.
 */
export const Lease = Type.Object({
  installation: PoolName,
  holder: Type.String({ minLength: 1, maxLength: 128 }),
  epoch: Type.Integer({
    description: 'number of the lease, which grows each time an orchestrator is granted the lease',
  }),
});
export type Lease = Static<typeof Lease>;

const lease = Type.Optional(Lease);
const leaseLost = 'another orchestrator holds the lease of the installation';

/** A host as the planner sees it. Ages are in milliseconds on the database's clock. */
export const PoolHost = Type.Object({
  id: Type.String(),
  pool: Type.String(),
  kind: Type.Optional(oneOf(hostKinds)),
  state: oneOf(hostStates),
  sessionId: nullable(Type.String()),
  serves: Type.Optional(nullable(oneOf(browserTiers, 'tier of the session that the host serves'))),
  stateAgeMs: Type.Number({ description: 'time since the host entered its state' }),
  silentMs: nullable(
    Type.Number({ description: "time since the host's last message; null before the first" }),
  ),
  ageMs: Type.Number({ description: 'time since the host was registered' }),
  launched: Type.Boolean({ description: "whether the host's container was reported" }),
  versionId: nullable(
    Type.String({
      description: 'world version that the host has loaded; the host can serve no other',
    }),
  ),
  uses: Type.Integer({ description: 'number of sessions that the host has served so far' }),
  address: Type.Optional(
    nullable(
      Type.String({
        description: "address of the host's API server; null: not known, or the host has none",
      }),
    ),
  ),
});
export type PoolHost = Static<typeof PoolHost>;

/**
 * Sessions that have the same requirements and wait for a host. If the size is `:browser`, the sessions wait for a
 * browser.
 */
export const WaitingSessions = Type.Object({
  tier: oneOf(browserTiers),
  isolation: nullable(oneOf(isolations)),
  size: Type.String(),
  count: Type.Integer({ minimum: 1 }),
  oldest: Type.Optional(Type.String({ description: 'session that has waited longest' })),
});
export type WaitingSessions = Static<typeof WaitingSessions>;

/** A world that a pool preloads on warm hosts. */
export const PoolWorld = Type.Object({
  pool: Type.String(),
  world: Type.String({ description: '`organization/project/slug`' }),
  versionId: Type.String({ description: 'the head version of the world' }),
  hosts: Type.Integer({ minimum: 0, description: 'number of hosts that preload the world' }),
});
export type PoolWorld = Static<typeof PoolWorld>;

export const PoolView = Type.Object({
  revision: Type.String({ description: 'changes whenever anything changes that the planner uses' }),
  hosts: Type.Array(PoolHost, { description: 'all hosts that are not gone' }),
  waiting: Type.Array(WaitingSessions, {
    description: 'one entry for all sessions with the same requirements',
  }),
  worlds: Type.Array(PoolWorld, {
    description:
      'worlds to preload of the published pools, without those that do not exist or have just failed to load',
  }),
});
export type PoolView = Static<typeof PoolView>;

export const observePool = operation({
  id: 'observePool',
  summary: 'Hosts and waiting sessions; the answer is held until the revision differs from `after`',
  method: 'GET',
  path: '/view',
  access: 'pool',
  query: Type.Object({
    installation: PoolName,
    after: Type.Optional(Type.String({ maxLength: limits.nameChars })),
    hold: Type.Optional(Type.Number({ minimum: 0, maximum: limits.pollMs / 1000 })),
    brief: Type.Optional(
      Type.Boolean({
        description: 'true: return only the revision; all lists of the view are then empty',
      }),
    ),
  }),
  answers: { 200: PoolView },
});

export const acquireLease = operation({
  id: 'acquireLease',
  summary: 'Take or renew the leadership of an installation',
  method: 'POST',
  path: '/lease',
  access: 'pool',
  body: Type.Object({
    installation: Lease.properties.installation,
    holder: Lease.properties.holder,
    ttlMs: Type.Integer({
      minimum: 0,
      maximum: 600_000,
      description: 'time for which the lease is taken or renewed; 0 gives it up',
    }),
    epoch: Type.Optional(
      Type.Integer({ description: 'renews, or gives up, the lease only if its epoch is this one' }),
    ),
    takeOver: Type.Optional(
      Type.Boolean({
        description:
          'whether to take over at once from a holder of the same name, as after a restart; true when left out',
      }),
    ),
  }),
  answers: {
    200: Type.Object({
      held: Type.Boolean(),
      epoch: Type.Optional(Type.Integer({ description: 'epoch of the current lease' })),
    }),
  },
});

export const registerHost = operation({
  id: 'registerHost',
  summary: 'Register a host before it is launched',
  method: 'POST',
  path: '/hosts',
  access: 'pool',
  body: Type.Object({
    lease,
    installation: Type.String({ minLength: 1, maxLength: 64 }),
    pool: Type.String({ minLength: 1, maxLength: 64 }),
    runtime: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'name of the driver, shown to operators',
    }),
    addressing: Type.Optional(
      oneOf(
        hostAddressings,
        'how the address of the host becomes known: `assigned`: by `reportLaunched`; `loopback`: the host reports a port on 127.0.0.1; `own_ip`: the host reports its own IP address with port 8080; left out by the previous release',
      ),
    ),
    tier: nullable(
      oneOf(browserTiers, 'tier of the sessions that the host serves; null: both tiers'),
    ),
    isolation: oneOf(isolations),
    size: Type.String({
      minLength: 1,
      maxLength: 64,
      description: '`:browser` for a browser host',
    }),
    maxLive: Type.Integer({
      minimum: 0,
      description:
        'maximum number of live hosts of the pool; if it has that many already, the request is refused with `exhausted` and `full: pool`',
    }),
  }),
  answers: {
    201: Type.Object({ hostId: Type.String(), generation: Type.Integer(), token: Type.String() }),
  },
  refusals: { 403: leaseLost },
});

/** A pool as its orchestrator runs it. */
export const PublishedPool = Type.Object({
  name: PoolName,
  tier: nullable(
    oneOf(browserTiers, 'tier of the sessions that the pool serves; null: both tiers'),
  ),
  isolation: oneOf(isolations),
  size: PoolName,
  minimum: Type.Integer({ minimum: 0 }),
  maximum: Type.Integer({ minimum: 0 }),
  target: Type.Integer({
    minimum: 0,
    description: 'current target: the number of hosts to keep warm',
  }),
  held: nullable(
    Type.String({
      maxLength: 4_000,
      description: 'why the pool launches no hosts at present; null: it launches hosts',
    }),
  ),
  worlds: Type.Array(
    Type.Object({
      world: Type.String({ maxLength: 256, description: '`organization/project/slug`' }),
      hosts: Type.Integer({ minimum: 0 }),
    }),
    { maxItems: 1_000 },
  ),
});
export type PublishedPool = Static<typeof PublishedPool>;

export const publishPools = operation({
  id: 'publishPools',
  summary:
    'Publish the pools of an installation, in the order in which sessions try them; replaces those published before',
  method: 'PUT',
  path: '/pools',
  access: 'pool',
  body: Type.Object({
    lease,
    installation: PoolName,
    pools: Type.Array(PublishedPool, { maxItems: 200 }),
    refused: Type.Optional(
      nullable(
        Type.String({
          maxLength: 4_000,
          description: 'why the last configuration was refused; null: it was accepted',
        }),
      ),
    ),
    file: Type.Optional(
      Type.String({
        maxLength: limits.poolsFileChars,
        description:
          'text of the file that the pools come from; it is stored until another text is sent',
      }),
    ),
  }),
  answers: {
    200: Type.Object({
      unknownWorlds: Type.Array(Type.String(), { description: 'worlds that do not exist yet' }),
    }),
  },
  refusals: { 403: leaseLost },
});

export const readPoolsFile = operation({
  id: 'readPoolsFile',
  summary:
    'Read the pools file that was last in use, for an orchestrator whose own file is invalid',
  method: 'GET',
  path: '/pools-file',
  access: 'pool',
  query: Type.Object({ installation: PoolName }),
  answers: { 200: Type.Object({ file: nullable(Type.String()) }) },
});

export const loadHost = operation({
  id: 'loadHost',
  summary: 'Make a warm host without a loaded version preload one',
  method: 'POST',
  path: '/hosts/{hostId}/load',
  access: 'pool',
  params: HostParams,
  body: Type.Object({ lease, versionId: Id }),
  answers: { 200: Type.Object({}) },
  refusals: {
    403: leaseLost,
    409: 'the host is not warm and empty, or the version does not exist',
  },
});

export const reportLaunched = operation({
  id: 'reportLaunched',
  summary: 'Report that the container of a host exists, or that its address changed',
  method: 'POST',
  path: '/hosts/{hostId}/launched',
  access: 'pool',
  params: HostParams,
  body: Type.Object({
    lease,
    runtimeId: Type.Optional(
      Type.String({
        maxLength: limits.nameChars,
        description:
          'id of the launched container at its runtime; left out: only the address has changed',
      }),
    ),
    address: Type.Optional(
      nullable(
        Type.String({
          maxLength: limits.nameChars,
          description:
            "base address of the host's API server, if the runtime assigns it; null: the host has no address now, so it gets no session",
        }),
      ),
    ),
  }),
  answers: { 200: Type.Object({}) },
  refusals: { 403: leaseLost },
});

const detail = Type.Optional(
  Type.String({
    maxLength: 4_000,
    description: 'reason that the runtime gives; clients of the session see the reason, too',
  }),
);
const output = Type.Optional(
  Type.String({
    maxLength: 4_000,
    description: 'last output of the host, shown only to operators',
  }),
);

export const drainHost = operation({
  id: 'drainHost',
  summary: 'Take a host out of service; a session on the host ends',
  method: 'POST',
  path: '/hosts/{hostId}/drain',
  access: 'pool',
  params: HostParams,
  body: Type.Object({
    lease,
    reason: Reason,
    detail,
    output,
    ifState: Type.Optional(
      oneOf(
        hostStates,
        'state that the host must be in; if it is in another, the request is refused with `conflict`',
      ),
    ),
  }),
  answers: { 200: Type.Object({}) },
  refusals: { 403: leaseLost },
});

export const reportGone = operation({
  id: 'reportGone',
  summary: 'Report that the container of a host does not exist; a session on it has lost its host',
  method: 'POST',
  path: '/hosts/{hostId}/gone',
  access: 'pool',
  params: HostParams,
  body: Type.Object({
    reason: Reason,
    detail,
    output,
    ledger: Type.Optional(
      Type.Object(
        {
          sessionId: Id,
          lastEntry: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }),
        },
        {
          description:
            "number of the last ledger entry of the host's last session, if the host left it",
        },
      ),
    ),
  }),
  answers: { 200: Type.Object({}) },
});

export const reap = operation({
  id: 'reap',
  summary: 'End sessions that are idle and not pinned, too old, or past a deadline',
  method: 'POST',
  path: '/reap',
  access: 'pool',
  body: Type.Object({
    lease,
    idleMs: Type.Integer({ minimum: 1_000 }),
    maxAgeMs: Type.Integer({ minimum: 1_000 }),
    provisionMs: Type.Integer({ minimum: 1_000 }),
    closingMs: Type.Integer({ minimum: 1_000 }),
  }),
  answers: { 200: Type.Object({ ended: Type.Array(Type.String()) }) },
  refusals: { 403: leaseLost },
});
