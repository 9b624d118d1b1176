/**
 * Ends an installation for good: drains every host, destroys every container, ends every row. If the control plane no
 * longer answers, containers are destroyed all the same. The next orchestrator then ends the rows, as it finds no
 * containers.
 *
 * A launch that is in progress when the shutdown starts may still create a container. The shutdown therefore ends only
 * once no launch is left. If a container is left, it fails, so that the caller knows.
 */
import pMap from 'p-map';
import type { LedgerMark } from '#domain/ledger.ts';
import type { Log } from '#runtime/log.ts';
import { pause } from '#runtime/pause.ts';
import type { PoolApi } from './control-plane/pool.ts';
import type { Container, Driver } from './driver/driver.ts';
import type { Background } from './observe/background.ts';

const atOnce = 8;
/** Interval between searches for new containers while launches are in progress, in milliseconds. */
const againMs = 250;
/**
 * Time after which a container that a killed program had requested appears in the runtime's list at the latest, in
 * milliseconds.
 */
const showMs = 1_000;

/** Last ledger entries of hosts that have ended. */
type Marks = Map<string, LedgerMark>;

/** Destroys the present containers; returns their number. */
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
 * Removes all that is left of an installation whose programs have ended, without regard to the control plane. The last
 * program may have been killed while its runtime was working, so a second search follows later.
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
  /** Container steps that were begun while leading. */
  background: Pick<Background, 'finish'>;
  log: Log;
};

/** Destroys containers until no step is in progress, and then the remaining ones. */
const destroyUntilQuiet = async (
  { driver, background, log }: ShutDownParts,
  marks: Marks,
): Promise<void> => {
  const quiet = new AbortController();
  void background.finish().then(() => quiet.abort());
  while (!quiet.signal.aborted) {
    // A launch in progress fails or finishes; the next search finds what it leaves.
    await destroyListed(driver, marks).catch((err: unknown) =>
      log.warn({ err }, 'containers could not be destroyed'),
    );
    await pause(againMs, quiet.signal);
  }
  await destroyListed(driver, marks);
  await driver.dismantle();
};

/** Destroys every container of the installation. Throws the reason why one is left, after everything else is done. */
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
