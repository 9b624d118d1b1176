/**
 * State of a host: a loaded world, and the session that it serves on it.
 *
 * A turn is one call or request that acts on a session. Turns run one at a time, inside the lock of the store. So
 * their effects on clock, ids and outbox have the same order as their changes to rows.
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
  /** Store whose mark `base` is the version's own rows. */
  store: WorldStore;
  /** Closes the store, and releases its file. */
  closeStore(): Promise<void>;
  /** Digest of the state at the mark `base`. */
  baseDigest: Digest;
  router: Router;
  tools: ToolChecker;
  code: AuthorCode;
};

/** File of the page that a session serves; `path` is below the page's directory, without a leading slash. */
export type PageFile = { path: string; sha256: Digest; sizeBytes: number };

export type Session = {
  id: string;
  /** Alias under which another session's world links to its world; null if the session is not a link. */
  alias: string | null;
  /** Token that its API surface accepts. */
  token: Secret;
  task: TaskSpec | null;
  world: LoadedWorld;
  ledger: Ledger;
  clock: WorldClock;
  ids: WorldIds;
  outbox: Outbox;
  /** Counts of its webhook deliveries and of receivers' answers. */
  sent: Sent;
  /** Address at which clients reach its API, which deliveries contain; null if the host does not know it. */
  address: string | null;
  /** Addresses before the container moved; clients' rows and links may still contain them. */
  formerAddresses: readonly string[];
  /** Access and refresh tokens that it has minted. */
  tokens: Tokens;
  /** Linked worlds by alias, each as a session whose task gives the linked tools. */
  links: ReadonlyMap<string, Session>;
  /** Faults injected into its API and tools. */
  faults: SessionFaults;
  /** Last answer of the agent to the question of its task. */
  answer: { value: unknown } | null;
  /** Page that it serves; null or absent if it was opened without. */
  ui?: { files: readonly PageFile[] } | null;
  /** Browser of the session; null or absent if it was opened without. */
  browser?: BrowserHub | null;
  /** True while its task is being proved, when clients are refused. */
  isProving?: boolean;
};

/** Returns the session without declared faults, for proofs and tests, which judge the world and its tasks. */
export const withoutFaults = (session: Session): Session => ({
  ...session,
  faults: noFaults(),
  links: new Map(
    [...session.links].map(([alias, linked]) => [alias, { ...linked, faults: noFaults() }]),
  ),
});

/**
 * Advances clock and ids, and empties the outbox. It comes first inside the transaction of a tool call or API request.
 */
export const beginTurn = ({ clock, ids, outbox }: Session): void => {
  clock.step();
  ids.begin();
  outbox.begin();
};

/** Returns to the first turn, as when the session was opened. */
export const resetTurns = ({ clock, faults, ids, links, outbox }: Session): void => {
  clock.reset();
  ids.reset();
  outbox.begin();
  faults.reset();
  for (const linked of links.values()) linked.faults.reset();
};
