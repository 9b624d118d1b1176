/**
 * Session: one isolated, live, seeded replica of a world. A client opens it on a task; an agent works in it; then it is
 * graded and closed.
 */
import type { TransitionTable } from './transitions.ts';

export const sessionStates = ['PROVISIONING', 'READY', 'CLOSING', 'CLOSED', 'FAILED'] as const;
export type SessionState = (typeof sessionStates)[number];

/**
 * Allowed transitions of a session. `PROVISIONING`: the session waits for a host, or the host loads the world. `READY`:
 * the host answers calls. `CLOSING`: the control plane has asked the host to stop serving the session. `CLOSED` and
 * `FAILED` are final and have an `EndReason`. A session whose host is lost is not restored: it becomes `FAILED`.
 */
export const sessionTransitions: TransitionTable<SessionState> = {
  PROVISIONING: ['READY', 'CLOSING', 'CLOSED', 'FAILED'],
  READY: ['CLOSING', 'CLOSED', 'FAILED'],
  CLOSING: ['CLOSED', 'FAILED'],
  CLOSED: [],
  FAILED: [],
};

export const endReasons = [
  'requested',
  'idle',
  'max_age',
  'reclaimed',
  'host_lost',
  'out_of_memory',
  'provision_failed',
  'quota',
] as const;
/**
 * Reason why a session ended. `requested`: a client ended it by `DELETE` or a `close` call. For any other reason, the
 * service ended it.
 */
export type EndReason = (typeof endReasons)[number];

/** Sources of a session's task: its world, the request that opened it, or a task stored in the project. */
export const taskForms = ['bundled', 'inline', 'stored'] as const;
export type TaskForm = (typeof taskForms)[number];

/** Kinds of runs that open sessions: world runs (tests, or the proof of a task), dataset runs, and agent runs. */
export const sessionRunKinds = ['world', 'dataset', 'agent'] as const;
/**
 * Filter of a list: whether it excludes or includes the sessions that the service opened for runs of worlds and
 * datasets, or has only those.
 */
export const runFilters = ['exclude', 'include', 'only'] as const;
export type RunFilter = (typeof runFilters)[number];

export const surfaceKinds = ['api', 'ui', 'browser'] as const;
/** Surface of a session: the vendor's HTTP API, its dashboard, or a browser opened on the dashboard. */
export type SurfaceKind = (typeof surfaceKinds)[number];

/** States of a session's browser. `failed`: several browsers in a row did not start. */
export const browserStates = ['waiting', 'ready', 'failed'] as const;
export type BrowserState = (typeof browserStates)[number];

/**
 * Scopes of a one-time link. `all`: the surface itself. `view`: watching its browser only. `devtools`: the DevTools of
 * its browser.
 */
export const linkScopes = ['all', 'view', 'devtools'] as const;
export type LinkScope = (typeof linkScopes)[number];

/**
 * Parts of a session that have a public address behind a gateway: the surfaces, and the MCP server that every session
 * has.
 */
export const addressedKinds = [...surfaceKinds, 'mcp'] as const;
export type AddressedKind = (typeof addressedKinds)[number];

export const browserTiers = ['standard', 'premium'] as const;
/**
 * Capacity on which a session runs. `standard`: spot capacity, which may be reclaimed. `premium`: on-demand capacity.
 */
export type BrowserTier = (typeof browserTiers)[number];

/**
 * Start of a session. `held`: on a host that had its world loaded. `warm`: on an empty warm host. `cold`: no host was
 * free.
 */
export type SessionStart = 'held' | 'warm' | 'cold';

/** Returns true if the state is `READY`; answers report the result as `ready`. */
export const isReady = (state: SessionState): boolean => state === 'READY';
