/**
 * Columns of a session, each defined once. From this table `session-row.ts` derives the rows of sessions, the lists of
 * columns in SQL, the values of a new session, the members of its view, and the columns that its host needs. So a new
 * column needs a migration and an entry here; if clients or hosts see it, it also needs a member in the wire schemas.
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

/** Build of an agent whose rollout a session is. */
export type SessionBuild = {
  id: string;
  agentId: string;
  buildHash: string;
  version: string | null;
};

/** Column of a session, or another value that rows of sessions include. */
export type Column = {
  /** Name in the database; absent if `read` takes the value from other tables. */
  name?: string;
  /** Type of the value in the program, set by `typed`. */
  type: unknown;
  /** SQL expression for the value, with the session as `s` and its host as `h`. Default: the column itself. */
  read?: string;
  /** False if rows of sessions do not include the column. */
  isInRow?: false;
  /** Type to which the insert casts the value of a new session. JSON is passed as text. */
  cast?: 'json' | 'integer' | 'bigint' | 'text[]' | 'boolean';
  /**
   * Origin of the value in a new session. `client`: the request's member with this name, or `absent` if the request has
   * none. `service`: the control plane. Default: the database, or the statement that writes the session.
   */
  set?: 'client' | 'service';
  absent?: string | number | boolean | null;
  /** True if the view that clients see includes the column under this name. Times become texts. */
  isShown?: true;
  /**
   * `sent`: the assignment for the host includes the column under this name. `used`: the assignment is computed from
   * the column.
   */
  host?: 'sent' | 'used';
};

/** Declares the type of a column's value. At run time it returns undefined. */
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
  /** Copy of the task for the host: a `TaskSpec` as JSON text; null if the session has no task. */
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
  /**
   * Id of the stored task that the session was opened with, and the version of that task; null without a stored task.
   */
  taskId: { name: 'task_id', type: typed<string | null>(), set: 'service' },
  taskVersion: {
    name: 'task_version',
    type: typed<number | null>(),
    cast: 'integer',
    set: 'service',
  },
  instruction: { name: 'instruction', type: typed<string | null>(), set: 'service' },
  /** Names of the tools that the task offers; null if it offers all. */
  taskTools: { name: 'task_tools', type: typed<string[] | null>(), cast: 'text[]', set: 'service' },
  surfaces: {
    name: 'surfaces',
    type: typed<SurfaceKind[]>(),
    cast: 'text[]',
    set: 'service',
    host: 'sent',
  },
  browserTier: { name: 'browser_tier', type: typed<BrowserTier>(), isShown: true },
  /** Browser of the session; null if the session requested none, or its row was just inserted. */
  browser: { type: typed<SessionBrowser | null>(), read: browserColumn('s') },
  /** Requirements on the host. If `isolation` is null, any isolation is accepted. */
  size: { name: 'size', type: typed<string>(), set: 'client', absent: usualSize, isShown: true },
  isolation: {
    name: 'isolation',
    type: typed<Isolation | null>(),
    set: 'client',
    absent: null,
    isShown: true,
  },
  /** True if the session prefers a host that has served a session of the same version before. */
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
  /**
   * Seed of the session; null if the request gave none. It is read as a double, which can hold every possible seed
   * exactly; the driver would return a bigint as text.
   */
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
  /** Id of the host that serves the session, or served it last; null if the session has had no host. */
  hostId: { name: 'host_id', type: typed<string | null>() },
  /** Base address of the API server on that host; null if there is no host or its address is not known. */
  hostAddress: { type: typed<string | null>(), read: 'h.address' },
  /** Generation of the host, and the number of hosts that the session has been assigned to. */
  generation: { name: 'generation', type: typed<number | null>(), isInRow: false },
  attempts: { name: 'attempts', type: typed<number>(), isInRow: false },
  hostReused: { name: 'host_reused', type: typed<boolean>(), isShown: true },
  idempotencyKey: {
    name: 'idempotency_key',
    type: typed<string | null>(),
    isInRow: false,
    set: 'service',
  },
  /** Hash of the request; null without an `Idempotency-Key`, because nothing is then compared. */
  requestHash: { name: 'request_hash', type: typed<string | null>(), set: 'service' },
  /** Id of the test run or proof for which the session was opened; null if there is none. */
  runId: { name: 'run_id', type: typed<string | null>(), set: 'service' },
  /** Id of the dataset run for which the session was opened; null if there is none. */
  datasetRunId: { name: 'dataset_run_id', type: typed<string | null>(), set: 'service' },
  /** Ids of an agent build's run and of the build, if the session is a rollout of that run; otherwise null. */
  agentRunId: { name: 'agent_run_id', type: typed<string | null>(), set: 'service' },
  buildId: { name: 'build_id', type: typed<string | null>(), isInRow: false, set: 'service' },
  build: { type: typed<SessionBuild | null>(), read: buildExpression, isShown: true },
  /** Verdict of the session's last grade; null if the session was not graded. */
  verdict: { name: 'verdict', type: typed<Verdict | null>(), isShown: true },
  /** Score of the session's last grade; null if it was not graded or the verdict is unknown. */
  score: { name: 'score', type: typed<number | null>(), isShown: true },
  /**
   * Id of the trace to which the session reports; null if its project has turned that off or it reports to no trace.
   */
  traceId: { name: 'trace_id', type: typed<string | null>(), set: 'service', isShown: true },
  /** Id of the parent span in that trace; null if there is none. */
  traceParentId: {
    name: 'trace_parent_id',
    type: typed<string | null>(),
    isInRow: false,
    set: 'service',
  },
  /** Id of the trace session that was requested; null if the session's own id is used. */
  traceSessionId: { name: 'trace_session_id', type: typed<string | null>(), set: 'service' },
  createdAt: { name: 'created_at', type: typed<Date>(), isShown: true, host: 'used' },
  /**
   * Mark of the control plane's secret from which the session's token is derived; null if it is the secret that was in
   * use when the session was created.
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
