/**
 * A session: one isolated, live, seeded replica of a world, opened on a task, driven, graded, closed.
 */
import type { TransitionTable } from './transitions.ts';

export const sessionStates = ['PROVISIONING', 'READY', 'CLOSING', 'CLOSED', 'FAILED'] as const;
export type SessionState = (typeof sessionStates)[number];

/**
 * Allowed transitions of a session. `PROVISIONING`: it waits for a host, or the host loads the world. `READY`: the
 * host answers calls. `CLOSING`: the control plane has asked the host to stop serving it. `CLOSED` and `FAILED` are
 * final and carry an `EndReason`. A session whose host is lost is not restored: it is `FAILED`.
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
 * Reason why a session ended. `requested`: by `DELETE` or a `close` call. The service ended it for any other reason.
 */
export type EndReason = (typeof endReasons)[number];

/** Sources of a session's task: its world, the request that opened it, or a task stored in the project. */
export const taskForms = ['bundled', 'inline', 'stored'] as const;
export type TaskForm = (typeof taskForms)[number];

/** Kinds of runs that open sessions: world runs (tests, or the proof of a task), dataset runs, and agent runs. */
export const sessionRunKinds = ['world', 'dataset', 'agent'] as const;
/** Treatment in a list of the sessions that the service opened for runs of worlds and datasets. */
export const runFilters = ['exclude', 'include', 'only'] as const;
export type RunFilter = (typeof runFilters)[number];

export const surfaceKinds = ['api', 'ui', 'browser'] as const;
/** Surface of a session: the vendor's HTTP API, its dashboard, or a browser opened on the dashboard. */
export type SurfaceKind = (typeof surfaceKinds)[number];

/** States of a session's browser; `failed` if several browsers in a row did not start. */
export const browserStates = ['waiting', 'ready', 'failed'] as const;
export type BrowserState = (typeof browserStates)[number];

/** Scopes of a one-time link to a surface: the surface itself, a browser to watch only, or its DevTools. */
export const linkScopes = ['all', 'view', 'devtools'] as const;
export type LinkScope = (typeof linkScopes)[number];

/**
 * Parts of a session that have a public address behind a gateway: the surfaces, and the MCP server of every session.
 */
export const addressedKinds = [...surfaceKinds, 'mcp'] as const;
export type AddressedKind = (typeof addressedKinds)[number];

export const browserTiers = ['standard', 'premium'] as const;
/** Capacity that a session runs on: `standard` on spot capacity that may be reclaimed, `premium` on-demand. */
export type BrowserTier = (typeof browserTiers)[number];

/** Start of a session: on a host that held its world, on an empty warm host, or without a free host. */
export type SessionStart = 'held' | 'warm' | 'cold';

/** Returns true if the state is `READY`; answers show it as `ready`. */
export const isReady = (state: SessionState): boolean => state === 'READY';
