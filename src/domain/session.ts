/**
 * A session: one isolated, live, seeded replica of a world, opened on a task, driven, graded, closed.
 */
import type { TransitionTable } from './transitions.ts';

export const sessionStates = ['PROVISIONING', 'READY', 'CLOSING', 'CLOSED', 'FAILED'] as const;
export type SessionState = (typeof sessionStates)[number];

/**
 * `PROVISIONING`: waiting for a host, or the host is loading the world. `READY`: calls are answered.
 * `CLOSING`: the host is told to stop serving it. `CLOSED` and `FAILED` are final and carry an
 * `EndReason`. A session whose host is lost is not restored: it is `FAILED`.
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
/** Why a session ended. `requested`: by `DELETE` or a `close` call. The others end it from outside. */
export type EndReason = (typeof endReasons)[number];

/** Where the task of a session comes from: its world, the request that opened it, or what its project stores. */
export const taskForms = ['bundled', 'inline', 'stored'] as const;
export type TaskForm = (typeof taskForms)[number];

/** Kinds of runs of sessions: of a world (its tests, or the proof of a task), of a dataset, or of an agent's build. */
export const sessionRunKinds = ['world', 'dataset', 'agent'] as const;
/** Treatment in a list of the sessions that the service opened for runs of worlds and datasets. */
export const runFilters = ['exclude', 'include', 'only'] as const;
export type RunFilter = (typeof runFilters)[number];

export const surfaceKinds = ['api', 'ui', 'browser'] as const;
/** A way into a session: the vendor's HTTP API, its dashboard, or a browser opened on the dashboard. */
export type SurfaceKind = (typeof surfaceKinds)[number];

/** How it stands with a session's browser: `failed` when one after the other did not come up. */
export const browserStates = ['waiting', 'ready', 'failed'] as const;
export type BrowserState = (typeof browserStates)[number];

/** What a one-time link to a surface opens: the surface, a browser to be looked at alone, or its DevTools. */
export const linkScopes = ['all', 'view', 'devtools'] as const;
export type LinkScope = (typeof linkScopes)[number];

/** What has an address of its own behind a gateway: the surfaces, and the MCP server that every session has. */
export const addressedKinds = [...surfaceKinds, 'mcp'] as const;
export type AddressedKind = (typeof addressedKinds)[number];

export const browserTiers = ['standard', 'premium'] as const;
/** Where a session runs: `standard` on spot capacity that may be reclaimed, `premium` on-demand. */
export type BrowserTier = (typeof browserTiers)[number];

/** How a session came by its host: one that held its world, an empty warm one, or none at first. */
export type SessionStart = 'held' | 'warm' | 'cold';

/** How a state is worded in an answer: `ready` is true only here. */
export const isReady = (state: SessionState): boolean => state === 'READY';
