/**
 * State of a host: a loaded world, and the session that the host serves on this world.
 *
 * A turn is one call or request that acts on a session. Turns run one at a time, inside the lock of the store. Their
 * effects on clock, ids and outbox therefore have the same order as their changes to rows.
 */
import type { Digest } from '#domain/world.ts';
import type { Contract } from '#language/contract.ts';
import type { ToolChecker } from '#language/schema/checkers.ts';
import type { Secret } from '#runtime/secret.ts';
import type { WorldStore } from '#store/world-store.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Router } from '../routes/router.ts';
import type { AuthorCode } from './author-code.ts';
import type { BrowserHub } from './browser-hub.ts';
import type { WorldClock } from './clock.ts';
import { noFaults, type SessionFaults } from './faults.ts';
import type { WorldIds } from './ids.ts';
import type { Tokens } from './oauth-tokens.ts';
import type { Outbox } from './outbox.ts';
import type { Sent } from './sent.ts';

/** Loaded world version. It outlives its session when the host is kept warm. */
export type LoadedWorld = {
  bundle: Digest;
  snapshot: Digest;
  contract: Contract;
  /** Store of the rows. Its mark `base` is the state with the version's own rows. */
  store: WorldStore;
  /** Closes the store, and releases the store's file. */
  closeStore(): Promise<void>;
  /** Digest of the state at the mark `base`. */
  baseDigest: Digest;
  router: Router;
  tools: ToolChecker;
  code: AuthorCode;
};

/** File of the page that a session serves. `path` is relative to the page's directory, without a leading slash. */
export type PageFile = { path: string; sha256: Digest; sizeBytes: number };

export type Session = {
  id: string;
  /** Alias under which another session's world links to this session's world; null if the session is not a link. */
  alias: string | null;
  /** Token that the session's API surface accepts. */
  token: Secret;
  task: TaskSpec | null;
  world: LoadedWorld;
  ledger: Ledger;
  clock: WorldClock;
  ids: WorldIds;
  outbox: Outbox;
  /** Counts of the session's webhook deliveries and of receivers' answers. */
  sent: Sent;
  /**
   * Address at which clients reach the session's API; deliveries contain it. Null if the host does not know the
   * address.
   */
  address: string | null;
  /** Addresses that the session had before its container moved. Clients' rows and links may still contain them. */
  formerAddresses: readonly string[];
  /** Access and refresh tokens that the session has minted. */
  tokens: Tokens;
  /**
   * Linked worlds by alias, each as a session of its own. The task of such a session names the tools that the link
   * serves.
   */
  links: ReadonlyMap<string, Session>;
  /** Faults that are injected into the session's API and tools. */
  faults: SessionFaults;
  /** Agent's last answer to the question of the session's task; null if there is none. */
  answer: { value: unknown } | null;
  /** Page that the session serves; null or absent if the session was opened without a page. */
  ui?: { files: readonly PageFile[] } | null;
  /** Browser of the session; null or absent if the session was opened without a browser. */
  browser?: BrowserHub | null;
  /** True while the session's task is being proved; clients are refused meanwhile. */
  isProving?: boolean;
};

/** Returns the session without declared faults. Proofs and tests use it, because they judge the world and its tasks. */
export const withoutFaults = (session: Session): Session => ({
  ...session,
  faults: noFaults(),
  links: new Map(
    [...session.links].map(([alias, linked]) => [alias, { ...linked, faults: noFaults() }]),
  ),
});

/**
 * Begins a turn: advances clock and ids, and empties the outbox. It is called first in the transaction of a tool call
 * or API request.
 */
export const beginTurn = ({ clock, ids, outbox }: Session): void => {
  clock.step();
  ids.begin();
  outbox.begin();
};

/** Sets clock, ids, faults and outbox back to the state that they had when the session was opened. */
export const resetTurns = ({ clock, faults, ids, links, outbox }: Session): void => {
  clock.reset();
  ids.reset();
  outbox.begin();
  faults.reset();
  for (const linked of links.values()) linked.faults.reset();
};
