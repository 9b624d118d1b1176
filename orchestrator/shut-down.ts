/**
 * Ends an installation for good: every host drained, every container destroyed, every row gone. A
 * control plane that no longer answers does not keep a container alive; its rows are settled by the
 * next orchestrator, which finds no containers.
 */
import { forEachAtOnce } from '#runtime/at-once.ts';
import type { Log } from '#runtime/log.ts';
import type { Driver } from './driver/driver.ts';
import type { PoolApi } from './pool.ts';

const atOnce = 8;

/** Destroys every container that there is, whatever the control plane knows of them. */
export const destroyAll = async (driver: Driver): Promise<void> => {
  const containers = await driver.list();
  await forEachAtOnce(atOnce, containers, ({ hostId }) => driver.destroy(hostId));
  await driver.dismantle();
};

/** Destroys every container of the installation. What fails is logged and does not stop the rest. */
export const shutDown = async (pool: PoolApi, driver: Driver, log: Log): Promise<void> => {
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
  await forEachAtOnce(atOnce, rows, (hostId) =>
    attempt(`draining ${hostId}`, () => pool.drain(hostId, { reason: 'shutdown' })),
  );
  await attempt('destroying containers', async () => {
    const containers = await driver.list();
    await forEachAtOnce(atOnce, containers, ({ hostId }) =>
      attempt(`destroying ${hostId}`, () => driver.destroy(hostId)),
    );
    await driver.dismantle();
  });
  await forEachAtOnce(atOnce, rows, (hostId) =>
    attempt(`reporting ${hostId} gone`, () => pool.reportGone(hostId, 'shutdown')),
  );
};
