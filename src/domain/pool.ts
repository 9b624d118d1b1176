/**
 * A pool: hosts that are alike. What a session asks of its host, what a pool's hosts have, and
 * when the one suits the other. `src/control/db/sessions/assignment.ts` says the same in SQL.
 */
import type { HostKind } from './host.ts';
import type { BrowserTier } from './session.ts';

/** What the hosts of an installation run on. */
export const runtimeNames = ['process', 'docker', 'kubernetes'] as const;
export type RuntimeName = (typeof runtimeNames)[number];

export const isolations = ['process', 'container', 'gvisor', 'kata'] as const;
/**
 * What stands between a host and its machine: nothing but the process's own borders, a container, a
 * container on a kernel of gVisor's, or one in a virtual machine of Kata's.
 */
export type Isolation = (typeof isolations)[number];

/** The size of a host where nobody says another. */
export const usualSize = 'standard';

/**
 * The size of every browser. It is no name that a session could ask for its world's host (`namePattern`), so who
 * looks for a world host by size never finds a browser, and the other way round.
 */
export const browserSize = ':browser';

/** What hosts of this size serve. */
export const kindOfSize = (size: string): HostKind => (size === browserSize ? 'browser' : 'world');

/** How pools and sizes are named: they are part of labels and of messages. */
export const namePattern = /^[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?$/;

/** What a session asks of its host; `isolation` null: any. */
export type HostWish = { tier: BrowserTier; isolation: Isolation | null; size: string };

/** What the hosts of a pool have; `tier` null: they serve both. */
export type HostOffer = { tier: BrowserTier | null; isolation: Isolation; size: string };

/** Whether a host that has this serves a session that asks for that. */
export const suits = (offer: HostOffer, wish: HostWish): boolean =>
  (offer.tier === null || offer.tier === wish.tier) &&
  (wish.isolation === null || offer.isolation === wish.isolation) &&
  offer.size === wish.size;
