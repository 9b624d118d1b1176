/**
 * Ends an installation for good: every host drained, every container destroyed, every row gone. A
 * control plane that no longer answers does not keep a container alive; its rows are settled by the
 * next orchestrator, which finds no containers.
 *
 * A launch that is under way when this begins may still make a container, so it is over only once none is.
 * Whoever asked for it is told when something is left: it says so by failing.
 */
import pMap from 'p-map';
import type { LedgerMark } from '#domain/ledger.ts';
import type { Log } from '#runtime/log.ts';
import { pause } from '#runtime/pause.ts';
import type { PoolApi } from './control-plane/pool.ts';
import type { Container, Driver } from './driver/driver.ts';
import type { Background } from './observe/background.ts';

const atOnce = 8;
/** While launches are under way, what they made is looked for so often. */
const againMs = 250;
/** How long a runtime may take to show a container that somebody asked it for before he was killed. */
const showMs = 1_000;

/** Last ledger entries of hosts that have ended. */
type Marks = Map<string, LedgerMark>;

/** Destroys the containers that there are now; answers how many there were. */
const destroyListed = async (driver: Driver, marks: Marks = new Map()): Promise<number> => {
  const containers = await driver.list();
  const destroy = async ({ hostId }: Container): Promise<void> => {
    const ledger = await driver.end?.(hostId);
    if (ledger !== undefined) marks.set(hostId, ledger);
    await driver.destroy(hostId);
  };
  await pMap(containers, destroy, { concurrency: atOnce });
  return containers.length;
};

/**
 * Removes all that is left of an installation whose programs have ended, whatever the control plane knows
 * of it. The last of them may have been killed while its runtime was at work, so a second look comes later.
 */
export const destroyAll = async (driver: Driver): Promise<void> => {
  await destroyListed(driver);
  await driver.dismantle();
  await pause(showMs);
  if ((await destroyListed(driver)) > 0) await driver.dismantle();
};

export type ShutDownParts = {
  pool: PoolApi;
  driver: Driver;
  /** What was begun while leading. */
  background: Pick<Background, 'finish'>;
  log: Log;
};

/** Destroys until nothing is under way any more, and then what is left. */
const destroyUntilQuiet = async (
  { driver, background, log }: ShutDownParts,
  marks: Marks,
): Promise<void> => {
  const quiet = new AbortController();
  void background.finish().then(() => quiet.abort());
  while (!quiet.signal.aborted) {
    // A launch that goes on meanwhile fails or finishes; what it leaves is seen by the next look.
    await destroyListed(driver, marks).catch((err: unknown) =>
      log.warn({ err }, 'destroying failed'),
    );
    await pause(againMs, quiet.signal);
  }
  await destroyListed(driver, marks);
  await driver.dismantle();
};

/** Destroys every container of the installation. Throws what kept one, once all else is done. */
export const shutDown = async (parts: ShutDownParts): Promise<void> => {
  const { pool, log } = parts;
  const attempt = async (what: string, step: () => Promise<unknown>): Promise<void> => {
    try {
      await step();
    } catch (err) {
      log.warn({ err }, `shutting down: ${what} failed`);
    }
  };
  let rows: string[] = [];
  await attempt('reading the pool', async () => {
    rows = (await pool.observe()).hosts.map((host) => host.id);
  });
  const drain = (hostId: string) =>
    attempt(`draining ${hostId}`, () => pool.drain(hostId, { reason: 'shutdown' }));
  const marks: Marks = new Map();
  const report = (hostId: string) =>
    attempt(`reporting ${hostId} gone`, () =>
      pool.reportGone(hostId, 'shutdown', { ledger: marks.get(hostId) }),
    );
  await pMap(rows, drain, { concurrency: atOnce });
  try {
    await destroyUntilQuiet(parts, marks);
  } finally {
    await pMap(rows, report, { concurrency: atOnce });
  }
};
