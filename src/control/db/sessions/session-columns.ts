/**
 * The columns of a session, each defined once. `session-row.ts` derives from this table the rows of sessions, the lists
 * of columns in SQL, the values of a new session, the members of its view, and what its host needs. So a new column
 * needs a migration and an entry here. If clients or hosts see it, it also needs a member in the wire schemas.
 *
 * The table leaves out columns that only single statements use, such as counters.
 */
import type { Verdict } from '#domain/grade.ts';
import { type Isolation, usualSize } from '#domain/pool.ts';
import type {
  BrowserTier,
  EndReason,
  SessionState,
  SurfaceKind,
  TaskForm,
} from '#domain/session.ts';
import type { SessionClock } from '#domain/world-clock.ts';
import { browserColumn, type SessionBrowser } from './browsers.ts';
import type { SessionError } from './ended-session.ts';

/** Build of the agent that a session is a rollout of. */
export type SessionBuild = {
  id: string;
  agentId: string;
  buildHash: string;
  version: string | null;
};

/** Column of a session, or value that rows of sessions include. */
export type Column = {
  /** Name in the database; absent if the value comes from other tables, by `read`. */
  name?: string;
  /** Type of the value in the program, given by `typed`. */
  type: unknown;
  /** Expression that reads it, with the session as `s` and its host as `h`. Default: the column itself. */
  read?: string;
  /** False if rows do not include it. */
  isInRow?: false;
  /** Type to which the statement casts the value of a new session. JSON is passed as text. */
  cast?: 'json' | 'integer' | 'bigint' | 'text[]' | 'boolean';
  /**
   * Origin of the value of a new session. `client`: the member of this name in the request, or `absent` if the request
   * has none. `service`: the control plane. Default: the database, or the statement that writes the session.
   */
  set?: 'client' | 'service';
  absent?: string | number | boolean | null;
  /** True if the view for clients includes it under this name; times become texts. */
  isShown?: true;
  /** `sent`: the assignment for its host includes it under this name. `used`: the assignment is built from it. */
  host?: 'sent' | 'used';
};

/** Gives a column its type; at run time there is no such value. */
const typed = <Value>(): Value => undefined as unknown as Value;

const buildExpression = `case when s.build_id is not null then (
     select json_build_object('id', b.id, 'agentId', b.agent_id, 'buildHash', b.build_hash, 'version', b.semantic_ver)
       from agent_builds b where b.id = s.build_id) end`;

export const sessionTable = {
  id: { name: 'id', type: typed<string>(), set: 'service', isShown: true, host: 'used' },
  projectId: { name: 'project_id', type: typed<string>(), set: 'service' },
  worldId: { name: 'world_id', type: typed<string>(), set: 'service', isInRow: false },
  versionId: {
    name: 'version_id',
    type: typed<string>(),
    set: 'service',
    isShown: true,
    host: 'used',
  },
  state: { name: 'state', type: typed<SessionState>(), isShown: true },
  endReason: { name: 'end_reason', type: typed<EndReason | null>(), isShown: true },
  error: { name: 'error', type: typed<SessionError | null>(), isShown: true },
  /** The host's copy of the task, a `TaskSpec` as JSON text. */
  taskJson: {
    name: 'task',
    type: typed<string | null>(),
    cast: 'json',
    read: 's.task::text',
    isInRow: false,
    set: 'service',
    host: 'used',
  },
  taskForm: { name: 'task_form', type: typed<TaskForm | null>(), set: 'service' },
  taskName: { name: 'task_name', type: typed<string | null>(), set: 'service' },
  taskHash: { name: 'task_hash', type: typed<string | null>(), set: 'service' },
  /** Stored task that it was opened on, and its version. */
  taskId: { name: 'task_id', type: typed<string | null>(), set: 'service' },
  taskVersion: {
    name: 'task_version',
    type: typed<number | null>(),
    cast: 'integer',
    set: 'service',
  },
  instruction: { name: 'instruction', type: typed<string | null>(), set: 'service' },
  /** Names of the tools that the task offers; null for all. */
  taskTools: { name: 'task_tools', type: typed<string[] | null>(), cast: 'text[]', set: 'service' },
  surfaces: {
    name: 'surfaces',
    type: typed<SurfaceKind[]>(),
    cast: 'text[]',
    set: 'service',
    host: 'sent',
  },
  browserTier: { name: 'browser_tier', type: typed<BrowserTier>(), isShown: true },
  /** Null if it requested none, or its row was just inserted. */
  browser: { type: typed<SessionBrowser | null>(), read: browserColumn('s') },
  /** Requirements on its host; a null `isolation` accepts any. */
  size: { name: 'size', type: typed<string>(), set: 'client', absent: usualSize, isShown: true },
  isolation: {
    name: 'isolation',
    type: typed<Isolation | null>(),
    set: 'client',
    absent: null,
    isShown: true,
  },
  /** True if it prefers a host that served a session of the same version before. */
  reuseWarm: {
    name: 'reuse_warm',
    type: typed<boolean>(),
    isInRow: false,
    cast: 'boolean',
    set: 'client',
    absent: false,
  },
  pinned: { name: 'pinned', type: typed<boolean>(), isShown: true },
  clock: {
    name: 'clock',
    type: typed<SessionClock>(),
    cast: 'json',
    set: 'service',
    isShown: true,
    host: 'sent',
  },
  /** Read as a double, which holds every possible seed exactly; the driver would return a bigint as text. */
  seed: {
    name: 'seed',
    type: typed<number | null>(),
    cast: 'bigint',
    read: 's.seed::float8',
    set: 'client',
    absent: null,
    isShown: true,
    host: 'sent',
  },
  /** Id of the host that serves it, or served it last. */
  hostId: { name: 'host_id', type: typed<string | null>() },
  /** Base address of that host's API server. */
  hostAddress: { type: typed<string | null>(), read: 'h.address' },
  /** Generation of that host, and the number of hosts that the session has been assigned to. */
  generation: { name: 'generation', type: typed<number | null>(), isInRow: false },
  attempts: { name: 'attempts', type: typed<number>(), isInRow: false },
  hostReused: { name: 'host_reused', type: typed<boolean>(), isShown: true },
  idempotencyKey: {
    name: 'idempotency_key',
    type: typed<string | null>(),
    isInRow: false,
    set: 'service',
  },
  /** Hash of the request; null without an idempotency key, because nothing is compared then. */
  requestHash: { name: 'request_hash', type: typed<string | null>(), set: 'service' },
  /** Id of the test run or proof that it was opened for; null if there is none. */
  runId: { name: 'run_id', type: typed<string | null>(), set: 'service' },
  /** Id of the dataset run that it was opened for; null if there is none. */
  datasetRunId: { name: 'dataset_run_id', type: typed<string | null>(), set: 'service' },
  /** Id of the run of an agent's build that it is a rollout of, and of that build; null if there is none. */
  agentRunId: { name: 'agent_run_id', type: typed<string | null>(), set: 'service' },
  buildId: { name: 'build_id', type: typed<string | null>(), isInRow: false, set: 'service' },
  build: { type: typed<SessionBuild | null>(), read: buildExpression, isShown: true },
  /** Verdict of its last grade; null if it was not graded. */
  verdict: { name: 'verdict', type: typed<Verdict | null>(), isShown: true },
  /** Null also if the verdict is unknown. */
  score: { name: 'score', type: typed<number | null>(), isShown: true },
  /** Id of the trace that reports it, unless its project has turned that off; null for no trace. */
  traceId: { name: 'trace_id', type: typed<string | null>(), set: 'service', isShown: true },
  /** Id of the parent span in that trace. */
  traceParentId: {
    name: 'trace_parent_id',
    type: typed<string | null>(),
    isInRow: false,
    set: 'service',
  },
  /** Id of the requested trace session; null for a trace session with the session's own id. */
  traceSessionId: { name: 'trace_session_id', type: typed<string | null>(), set: 'service' },
  createdAt: { name: 'created_at', type: typed<Date>(), isShown: true, host: 'used' },
  /**
   * Mark of the secret of the control plane from which its token is derived; null for the secret in use at its
   * creation.
   */
  secretMark: {
    name: 'secret_mark',
    type: typed<string | null>(),
    set: 'service',
    host: 'used',
  },
  assignedAt: { name: 'assigned_at', type: typed<Date | null>(), isShown: true },
  readyAt: { name: 'ready_at', type: typed<Date | null>(), isShown: true },
  closedAt: { name: 'closed_at', type: typed<Date | null>(), isShown: true },
  lastActivityAt: { name: 'last_activity_at', type: typed<Date>(), isShown: true },
} as const satisfies Record<string, Column>;
