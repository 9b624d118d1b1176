/**
 * Pool: a set of hosts that are alike. This file has the requirements of a session, the features of a pool's hosts, and
 * the rule by which they match. `src/control/db/sessions/assignment.ts` has the same rule in SQL.
 */
import type { HostKind } from './host.ts';
import type { BrowserTier } from './session.ts';

export const isolations = ['process', 'container', 'gvisor', 'kata'] as const;
/**
 * Isolation between a host and its machine: an ordinary process, a container, a container on a gVisor kernel, or a
 * Kata virtual machine.
 */
export type Isolation = (typeof isolations)[number];

/**
 * Container runtimes on which hosts of an installation run, each with the isolations that it supports. The first is
 * that of a pool that names none.
 */
const runtimes = {
  process: ['process'],
  docker: ['container', 'gvisor'],
  kubernetes: ['container', 'gvisor', 'kata'],
} as const satisfies Record<string, readonly [Isolation, ...Isolation[]]>;

export type RuntimeName = keyof typeof runtimes;
export const runtimeNames = Object.keys(runtimes) as RuntimeName[];

/** Returns the isolations that a runtime supports. */
export const isolationsOf = (runtime: RuntimeName): readonly Isolation[] => runtimes[runtime];

/** Returns the isolation of a pool that names none. */
export const usualIsolation = (runtime: RuntimeName): Isolation => runtimes[runtime][0];

/** Default size of a host. */
export const usualSize = 'standard';

/**
 * Size of every browser host. Sessions cannot request this size, because `namePattern` excludes it. So a look-up of a
 * world host by its size never finds a browser host, nor a look-up of a browser host a world host.
 */
export const browserSize = ':browser';

/** Returns the kind of hosts of this size. */
export const kindOfSize = (size: string): HostKind => (size === browserSize ? 'browser' : 'world');

/** Pattern of the names of pools and sizes, which appear in labels and messages. */
export const namePattern = /^[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?$/;

/** Requirements of a session for its host. If `isolation` is null, any isolation is accepted. */
export type HostWish = { tier: BrowserTier; isolation: Isolation | null; size: string };

/** Features of a pool's hosts. If `tier` is null, the hosts serve both tiers. */
export type HostOffer = { tier: BrowserTier | null; isolation: Isolation; size: string };

/** Returns true if a host with these features meets the session's requirements. */
export const suits = (offer: HostOffer, wish: HostWish): boolean =>
  (offer.tier === null || offer.tier === wish.tier) &&
  (wish.isolation === null || offer.isolation === wish.isolation) &&
  offer.size === wish.size;
