import { afterEach, describe, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import type { Queryable } from '../../db/core/database.ts';
import { type Peers, watchPeers } from './peers.ts';

const quiet = createLog('control', 'silent');

let peers: Peers;
afterEach(() => peers.loop.stop());

type Counts = { own: number; others: number };

/** Starts the check for peers with a fake database that returns these counts of listening connections. */
const watch = (counts: () => Counts | Promise<Counts>): Peers => {
  const db: Queryable = { query: async <Row>() => [await counts()] as Row[] };
  peers = watchPeers(db, quiet);
  return peers;
};

/** Resolves after the next check. */
const look = async (): Promise<void> => {
  const { ticks } = peers.loop.status();
  peers.loop.nudge();
  await until(() => peers.loop.status().ticks > ticks, { timeoutMs: 30_000, what: 'a look' });
};

describe('a replica', () => {
  it('has no peers while only its own connection listens for notifications', async () => {
    const counts = { own: 1, others: 0 };
    const { isAlone, listensAs } = watch(() => counts);
    await look();
    expect(isAlone(), 'before it listens').toBe(false);
    listensAs(7);
    await look();
    expect(isAlone()).toBe(true);
    counts.others = 1;
    await look();
    expect(isAlone()).toBe(false);
    counts.others = 0;
    counts.own = 0;
    await look();
    expect(isAlone(), 'when its own connection is not visible').toBe(false);
  });

  it('has a peer once a message of a peer arrived, even if a check that began earlier finds none', async () => {
    const { isAlone, listensAs, heard } = watch(() => ({ own: 1, others: 0 }));
    listensAs(7);
    await look();
    heard();
    expect(isAlone()).toBe(false);
    await peers.loop.stop();

    const asked = Promise.withResolvers<void>();
    const found = Promise.withResolvers<Counts>();
    const late = watch(() => {
      asked.resolve();
      return found.promise;
    });
    await look();
    late.listensAs(7);
    const looked = look();
    await asked.promise;
    late.heard();
    found.resolve({ own: 1, others: 0 });
    await looked;
    expect(late.isAlone()).toBe(false);
  });

  it('assumes that it has peers after it listens on a new connection, and after a failed check', async () => {
    let isAway = false;
    const { isAlone, listensAs } = watch(() => {
      if (isAway) throw new Error('the database is away');
      return { own: 1, others: 0 };
    });
    listensAs(7);
    await look();
    listensAs(8);
    expect(isAlone(), 'other replicas may have started while it did not listen').toBe(false);
    await look();
    expect(isAlone()).toBe(true);
    isAway = true;
    await look();
    expect(isAlone(), 'after a check that failed').toBe(false);
  });
});
