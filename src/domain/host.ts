/**
 * Host: one container (or process) that serves at most one session at a time. The orchestrator creates and destroys
 * hosts; the control plane assigns sessions to them.
 */
import type { TransitionTable } from './transitions.ts';

/**
 * Kinds of hosts, by the part of a session that they serve: the world with its API and page, or a browser that opens
 * the page.
 */
export const hostKinds = ['world', 'browser'] as const;
export type HostKind = (typeof hostKinds)[number];

export const hostStates = [
  'starting',
  'warm',
  'assigned',
  'recycling',
  'draining',
  'gone',
] as const;
export type HostState = (typeof hostStates)[number];

/**
 * Allowed transitions of a host. `starting`: the intent is stored, the container may not exist yet. `warm`: the host
 * waits for a session. `assigned`: the host has a session. `recycling`: the host verifies that nothing of the last
 * session is left, or loads a world in advance. `draining`: the host must be destroyed. `gone`: the host's container is
 * known not to exist.
 */
export const hostTransitions: TransitionTable<HostState> = {
  starting: ['warm', 'draining', 'gone'],
  warm: ['assigned', 'recycling', 'draining', 'gone'],
  assigned: ['recycling', 'draining', 'gone'],
  recycling: ['warm', 'draining', 'gone'],
  draining: ['gone'],
  gone: [],
};

/** States of a host in which it counts towards the size of its pool. */
export const liveHostStates: readonly HostState[] = [
  'starting',
  'warm',
  'assigned',
  'recycling',
  'draining',
];

/**
 * Reason why a host was drained or is gone; stored on the host's row and shown to operators. `reclaimed`: its runtime
 * took the host away. `operator`: an operator of the service drained the host. `image`, `unschedulable`, `crash_loop`
 * and `refused`: its runtime never ran the host.
 */
export type HostEnd =
  | 'session_closed'
  | 'not_clean'
  | 'worn'
  | 'start_timeout'
  | 'recycle_timeout'
  | 'silent'
  | 'exited'
  | 'out_of_memory'
  | 'surplus'
  | 'shutdown'
  | 'outdated'
  | 'max_age'
  | 'load_failed'
  | 'reclaimed'
  | 'image'
  | 'unschedulable'
  | 'crash_loop'
  | 'refused'
  | 'operator';
