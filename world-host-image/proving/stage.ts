/**
 * Where a proof is played: the world of the session, begun anew for each run, with a ledger that nobody else is given.
 * What a run does is forgotten with the next one; no webhook of it is sent.
 */
import { openLedger } from '../ledger/ledger.ts';
import { secretsOf } from '../session/open-session.ts';
import { seedTask } from '../session/seed-task.ts';
import { resetTurns, type Session, withoutFaults } from '../session/session.ts';

export type Stage = {
  /** The session of the run under way. */
  session: Session;
  /** Begins a run with the state in which the task begins. */
  begin(): Promise<void>;
  /** Begins one with the world as its version has it. */
  beginWithoutSeed(): Promise<void>;
  /** Leaves the state in which the task begins. */
  end(): Promise<void>;
};

/** Over a session that nobody else uses meanwhile. */
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
