/**
 * Prepares the session for each run of a proof: resets its world, and opens a new ledger for the run. Each run discards
 * the changes of the previous run. Webhooks are not sent.
 */
import { openLedger } from '../ledger/ledger.ts';
import { secretsOf } from '../session/open-session.ts';
import { seedTask } from '../session/seed-task.ts';
import { resetTurns, type Session, withoutFaults } from '../session/session.ts';

export type Stage = {
  /** Session of the current run. */
  session: Session;
  /** Begins a run, in the task's initial state. */
  begin(): Promise<void>;
  /** Begins a run in the world's base state, to which the task's seed has not been applied. */
  beginWithoutSeed(): Promise<void>;
  /** Ends the last run and restores the task's initial state. */
  end(): Promise<void>;
};

/** Makes the stage for a session. No other caller may use the session meanwhile. */
export const openStage = (session: Session): Stage => {
  const { links, tokens, token, world } = session;
  const { store } = world;
  const contracts = [world, ...[...links.values()].map((one) => one.world)].map(
    ({ contract }) => contract,
  );
  const secrets = secretsOf(contracts, token);
  const playing: Session = { ...withoutFaults(session), ledger: openLedger({ secrets }) };
  let isSeeded = true;

  const forget = (): void => {
    for (const { world: linked } of links.values()) linked.store.rollBackTo('task');
    tokens.clear();
    playing.answer = null;
    resetTurns(session);
    playing.ledger.close();
    playing.ledger = openLedger({ secrets });
  };

  const seed = async (): Promise<void> => {
    await store.exclusively(() => store.rollBackTo('base'));
    await seedTask(world, session.task);
    store.mark('task');
    isSeeded = true;
  };

  const begin = async (): Promise<void> => {
    if (!isSeeded) await seed();
    await store.exclusively(() => {
      store.rollBackTo('task');
      forget();
    });
  };

  return {
    session: playing,
    begin,
    async beginWithoutSeed() {
      isSeeded = false;
      await store.exclusively(() => {
        store.rollBackTo('base');
        store.mark('task');
        forget();
      });
    },
    async end() {
      await begin();
      playing.ledger.close();
    },
  };
};
