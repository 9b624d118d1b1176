/** Opens a session from an assignment: its world, seeded for its task, and an empty ledger. */
import type { TreeFile } from '#domain/world.ts';
import type { Contract } from '#language/contract.ts';
import { Secret } from '#runtime/secret.ts';
import type { Assignment, Holding } from '#wire/host-api/assignment.ts';
import { openLedger } from '../ledger/ledger.ts';
import { type Secrets, secretNamesOf } from '../ledger/mask.ts';
import type { Proof } from '../proof/proof.ts';
import { BrowserHub } from './browser-hub.ts';
import { createClock } from './clock.ts';
import { createFaults, type SessionFaults } from './faults.ts';
import { createIds } from './ids.ts';
import { loadLinks, openLinks } from './links.ts';
import type { WorldLoader } from './load-world.ts';
import { createTokens, openingOfTokens } from './oauth-tokens.ts';
import { createOutbox } from './outbox.ts';
import { seedTask } from './seed-task.ts';
import { createSent } from './sent.ts';
import type { LoadedWorld, Session } from './session.ts';

/**
 * Returns the secrets that the session's ledger must mask: the session's own token, the tokens that it mints, and the
 * values of names that its world's contract, or that of a linked world, uses for secrets.
 */
export const secretsOf = (contracts: readonly Contract[], token: Secret): Secrets => ({
  names: new Set(contracts.flatMap((contract) => [...secretNamesOf(contract)])),
  values: [token.reveal()],
  openings: contracts.some(({ api }) => api?.auth.scheme === 'oauth2')
    ? [openingOfTokens(token)]
    : [],
});

/**
 * Opens the session of an assignment. Throws `StoreRefusal` if the world rejects the seed. An error of loading is also
 * thrown.
 */
export const openSession = async (
  worlds: WorldLoader,
  assignment: Assignment,
): Promise<Session> => {
  const world = await worlds.load(assignment);
  await seedTask(world, assignment.task);
  world.store.mark('task');
  const linked = await loadLinks(worlds, assignment);
  const contracts = [world, ...linked.map((one) => one.world)].map(({ contract }) => contract);
  const token = new Secret(assignment.sessionToken);
  const ledger = openLedger({ secrets: secretsOf(contracts, token) });
  const clock = createClock(assignment.clock);
  const ids = createIds(assignment.seed);
  const parts = {
    id: assignment.sessionId,
    alias: null,
    sent: createSent(),
    token,
    ledger,
    clock,
    ids,
    address: assignment.address ?? null,
    formerAddresses: [],
    tokens: createTokens({ secret: token, clock, ids }),
  };
  const faultsOf = ({ contract: { api } }: LoadedWorld): SessionFaults =>
    createFaults({ api, seed: assignment.seed, clock });
  return {
    ...parts,
    task: assignment.task,
    world,
    outbox: createOutbox(),
    faults: faultsOf(world),
    links: openLinks(linked, parts, faultsOf),
    answer: null,
    ui: assignment.ui ?? null,
    browser: assignment.surfaces.includes('browser') ? new BrowserHub({ ledger }) : null,
  };
};

/**
 * Throws an `invalid` error if code of the session's world, or of a linked world, cannot be imported; see `AuthorCode`.
 */
export const assertImports = async ({ world, links }: Session): Promise<void> => {
  const worlds = [world, ...[...links.values()].map((link) => link.world)];
  await Promise.all(worlds.map(({ code }) => code.assertImports()));
};

/**
 * Removes everything of the session from the host: linked worlds, workers, leftovers, changed rows and ledger. Resolves
 * with the digest of the remaining rows, computed by reading each row, and with the leftovers found. The control plane
 * decides whether the host is clean.
 */
export const recycleSession = async (
  { world, ledger }: Session,
  { worlds, proof }: { worlds: WorldLoader; proof: Proof },
): Promise<{ holding: Holding; found: string[] }> => {
  ledger.close();
  const { hadCode, pids } = await worlds.releaseLinked();
  let found: string[] = [];
  const prove = async (placed: readonly TreeFile[]): Promise<void> => {
    found = await proof.clean(placed, pids);
  };
  await world.code.renew(prove, { isReached: hadCode });
  const holding = await world.store.exclusively(() => {
    world.store.rollBackTo('base');
    return { bundle: world.bundle, stateDigest: world.store.scanDigest() };
  });
  return { holding, found };
};
