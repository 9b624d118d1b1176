/**
 * What a host holds: a loaded world, and the session that it serves over it.
 *
 * A turn is one call or request as it acts on a session. Turns are taken one at a time, inside the lock
 * of the store, so what they do to clock, ids and outbox is in the order in which they change rows.
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

/** A world version, loaded: it outlives its session when the host is kept warm. */
export type LoadedWorld = {
  bundle: Digest;
  snapshot: Digest;
  contract: Contract;
  /** Its mark `base` is the version's own rows. */
  store: WorldStore;
  /** Closes it, and lets go of the file that it is upon. */
  closeStore(): Promise<void>;
  /** Digest of the state at the mark `base`. */
  baseDigest: Digest;
  router: Router;
  tools: ToolChecker;
  code: AuthorCode;
};

/** A file of the page that a session serves; `path` is below its directory, without a slash before it. */
export type PageFile = { path: string; sha256: Digest; sizeBytes: number };

export type Session = {
  id: string;
  /** The alias under which its world is linked to another's session; null: it is nobody's link. */
  alias: string | null;
  /** What its API surface accepts. */
  token: Secret;
  task: TaskSpec | null;
  world: LoadedWorld;
  ledger: Ledger;
  clock: WorldClock;
  ids: WorldIds;
  outbox: Outbox;
  /** What it has sent, and what receivers answered, as far as the session is asked about it. */
  sent: Sent;
  /** Where clients find its API, as it says of itself in deliveries; null when the host was not told. */
  address: string | null;
  /** Where they found it before its container was reached elsewhere: their rows and links may still say so. */
  formerAddresses: readonly string[];
  /** Bearers that it has minted. */
  tokens: Tokens;
  /** The worlds that its world is linked to, by alias, each with the tools that are served as those of its task. */
  links: ReadonlyMap<string, Session>;
  /** What goes wrong on purpose when it is used. */
  faults: SessionFaults;
  /** What the agent answered last to the question of its task. */
  answer: { value: unknown } | null;
  /** The page that it serves; null or absent: it was opened without. */
  ui?: { files: readonly PageFile[] } | null;
  /** Its browser; null or absent: it was opened without. */
  browser?: BrowserHub | null;
  /** While its task is proved: its API is served to nobody else. */
  isProving?: boolean;
};

/** The session for proofs and tests of worlds, which judge the world and its tasks: it meets no declared fault. */
export const withoutFaults = (session: Session): Session => ({
  ...session,
  faults: noFaults(),
  links: new Map(
    [...session.links].map(([alias, linked]) => [alias, { ...linked, faults: noFaults() }]),
  ),
});

/** Moves time and ids on; the first thing inside the transaction of a tool call or API request. */
export const beginTurn = ({ clock, ids, outbox }: Session): void => {
  clock.step();
  ids.begin();
  outbox.begin();
};

/** Back to the first turn, as when the session was opened. */
export const resetTurns = ({ clock, faults, ids, links, outbox }: Session): void => {
  clock.reset();
  ids.reset();
  outbox.begin();
  faults.reset();
  for (const linked of links.values()) linked.faults.reset();
};
