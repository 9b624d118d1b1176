/**
 * An agent with a hosted browser solves a task in a page alone, on real programs and a real Chromium, on each runtime of this
 * machine. On a cluster it is solved with the chart (`chart-browser.test.ts`).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWorld } from '#wire/public-api/operations.ts';
import { type Network, startNetwork } from '../support/network.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { dockerAnswers, prepareDocker } from '../support/prepare-docker.ts';
import { newInstallation, runtimes } from '../support/runtimes.ts';
import { close, open } from '../support/sessions.ts';
import { solveByBrowser } from '../support/solve-by-browser.ts';

const hasDocker = await dockerAnswers();
if (!hasDocker) console.info('no task is solved on docker: no Docker engine answers');

describe.for(hasDocker ? (['process', 'docker'] as const) : (['process'] as const))(
  'on the runtime "%s"',
  (runtime) => {
    const installation = newInstallation();
    let database: TestDatabase;
    let network: Network;

    beforeAll(async () => {
      database = await testDatabase();
      const place =
        runtime === 'docker' ? await prepareDocker(installation, { browsers: true }) : undefined;
      network = await startNetwork({
        ...{ databaseUrl: database.url, runtime, installation, poolSize: 1, poolMax: 2 },
        ...(place === undefined ? {} : { hostName: place.host }),
        ...(place?.listen ? { listen: place.listen } : {}),
        env: { SVC_BROWSER_POOL_SIZE: '1' },
      });
      await network.client.send(createWorld, { body: { slug: 'hub', from: 'code-hosting' } });
      await network.warm(2);
      // An image of browsers may have to be built.
    }, 900_000);

    afterAll(async () => {
      await network.stop();
      await database.drop();
      expect(await runtimes[runtime].leftovers(installation)).toEqual([]);
    });

    it('solves a task through the page alone', { timeout: 300_000 }, async () => {
      const surfaces: ('ui' | 'browser')[] = ['ui', 'browser'];
      const session = await open(network.client, {
        slug: 'hub',
        task: 'close-duplicate',
        surfaces,
      });
      await solveByBrowser(network.client, session);
      await close(network.client, session.id);
    });
  },
);
