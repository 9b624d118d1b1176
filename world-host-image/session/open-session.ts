/** Makes a session of an assignment: its world, seeded for its task, and an empty ledger. */
import type { Contract } from '#language/contract.ts';
import { Secret } from '#runtime/secret.ts';
import { StoreRefusal } from '#store/refusal.ts';
import { locateRefusal } from '#store/snapshot.ts';
import type { Assignment, Holding } from '#wire/host-api/operations.ts';
import { openLedger } from '../ledger/ledger.ts';
import { type Secrets, secretNamesOf } from '../ledger/mask.ts';
import type { Proof } from '../proof/proof.ts';
import { createClock } from './clock.ts';
import { createIds } from './ids.ts';
import type { WorldLoader } from './load-world.ts';
import { createTokens, openingOfTokens } from './oauth-tokens.ts';
import { createOutbox } from './outbox.ts';
import { applyTaskSeed } from './seed.ts';
import type { LoadedWorld, Session } from './session.ts';

type Task = NonNullable<Assignment['task']>;

/**
 * The control plane checks the rows of a seed before it gives it out; compiling the same checks again
 * would be the longest part of an open. Keys, unique lists and references are the store's to check.
 */
const seedTask = async (world: LoadedWorld, task: Task | null): Promise<void> => {
  const { rows, mode = 'append' } = task?.seed ?? { rows: {} };
  try {
    await world.store.atomically(() => applyTaskSeed(world, { rows, mode, isChecked: true }));
  } catch (error) {
    throw error instanceof StoreRefusal ? locateRefusal(error, world.contract, rows) : error;
  }
};

/**
 * What must not stand in the ledger of a session: its own token, the bearers that it mints, and what the
 * world's contract calls a secret.
 */
export const secretsOf = (contract: Contract, token: Secret): Secrets => ({
  names: secretNamesOf(contract),
  values: [token.reveal()],
  openings: contract.api?.auth.scheme === 'oauth2' ? [openingOfTokens(token)] : [],
});

/** Throws `StoreRefusal` for a seed that the world refuses, else what loading throws. */
export const openSession = async (
  worlds: WorldLoader,
  assignment: Assignment,
): Promise<Session> => {
  const world = await worlds.load(assignment);
  await seedTask(world, assignment.task);
  world.store.mark('task');
  const token = new Secret(assignment.sessionToken);
  const ledger = openLedger({ secrets: secretsOf(world.contract, token) });
  const clock = createClock(assignment.clock);
  const ids = createIds(assignment.seed);
  return {
    id: assignment.sessionId,
    token,
    task: assignment.task,
    world,
    ledger,
    clock,
    ids,
    outbox: createOutbox(),
    address: assignment.address ?? null,
    formerAddresses: [],
    tokens: createTokens({ secret: token, clock, ids }),
  };
};

/**
 * Takes everything of the session back: fresh workers, nothing of it in the host, the base rows, no
 * ledger. Resolves with the digest of the rows that are there then, read one by one, and with what is
 * not clean; it is for others to judge.
 */
export const recycleSession = async (
  { world, ledger }: Session,
  proof: Proof,
): Promise<{ holding: Holding; found: string[] }> => {
  ledger.close();
  let found: string[] = [];
  await world.code.renew(async (placed) => {
    found = await proof.clean(placed);
  });
  const holding = await world.store.exclusively(() => {
    world.store.rollBackTo('base');
    return { bundle: world.bundle, stateDigest: world.store.scanDigest() };
  });
  return { holding, found };
};
