/** The pool as its planner sees it, with a revision that changes only when something to plan does. */
import { createHash } from 'node:crypto';
import type { PoolView } from '#wire/pool-api/operations.ts';
import { type PoolStock, readPool } from '../db/pool-view.ts';
import { holdUntil, poolTopic } from '../notify.ts';
import type { Parts } from '../parts.ts';

/**
 * Ages are left out: they change all the time. Fields come in the order of the statement that read them,
 * so nothing needs to be sorted, which would take most of the time of a look at ten thousand hosts.
 */
const revisionOf = ({ hosts, waiting, worlds }: PoolStock): string => {
  const lasting = hosts.map(({ stateAgeMs: _, silentMs: __, ageMs: ___, ...host }) =>
    Object.values(host),
  );
  return createHash('sha256')
    .update(JSON.stringify([waiting, worlds, lasting]))
    .digest('hex')
    .slice(0, 16);
};

export type PoolQuestion = {
  installation: string;
  /** The revision that the asker has already. */
  after: string | undefined;
  holdMs: number;
  signal: AbortSignal;
};

/** Answers once the view differs from `after`, or with the same one when the time is over. */
export const observe = async (
  { db, notices }: Pick<Parts, 'db' | 'notices'>,
  { installation, after, holdMs, signal }: PoolQuestion,
): Promise<PoolView> => {
  const read = async (): Promise<PoolView> => {
    const stock = await readPool(db, installation);
    return { revision: revisionOf(stock), ...stock };
  };
  const look = async (): Promise<PoolView | undefined> => {
    const view = await read();
    return view.revision === after ? undefined : view;
  };
  const changed = await holdUntil(notices, { topic: poolTopic, ms: holdMs, signal, look });
  return changed ?? read();
};
