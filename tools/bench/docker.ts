/**
 * Measures an open on Docker when no host is warm. The floor is a bare `docker run` of the same image that does
 * nothing and is removed.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { until } from '#runtime/pause.ts';
import { createWorld } from '#wire/public-api/operations.ts';
import { close, open } from '../../test/support/control/sessions.ts';
import { type Network, startNetwork } from '../../test/support/programs/network.ts';
import { prepareDocker } from '../../test/support/programs/prepare-docker.ts';
import { type Figure, median, sample } from './figure.ts';

const run = promisify(execFile);
const opens = 7;

const bareRun = (image: string) =>
  sample(opens, () => run('docker', ['run', '--rm', '--entrypoint', '/bin/true', image]));

const coldOpens = async (network: Network): Promise<number[]> => {
  const samples: number[] = [];
  for (let index = 0; index < opens; index += 1) {
    await until(async () => (await network.hosts()).length === 0, {
      timeoutMs: 30_000,
      what: 'no host left',
    });
    const startedAt = performance.now();
    const session = await open(network.client, { slug: 'code-hosting', task: 'close-duplicate' });
    samples.push(performance.now() - startedAt);
    if (session.state !== 'READY') throw new Error(`${session.id} is ${session.state}`);
    await close(network.client, session.id);
  }
  return samples;
};

/** Measures opens on a pool of size 0, so that each waits for a container of its own. */
export const benchDocker = async (databaseUrl: string): Promise<Figure[]> => {
  const installation = `bench-${process.pid}`;
  const prepared = await prepareDocker(installation);
  const network = await startNetwork({
    databaseUrl,
    installation,
    runtime: 'docker',
    poolSize: 0,
    hostName: prepared.host,
    ...(prepared.listen === null ? {} : { listen: prepared.listen }),
  });
  try {
    await network.client.send(createWorld, {
      body: { slug: 'code-hosting', from: 'code-hosting' },
    });
    const bare = median(await bareRun(prepared.image));
    const cold = median(await coldOpens(network));
    return [
      {
        name: 'open.cold.docker',
        value: cold,
        unit: 'ms',
        floor: bare,
        peer: null,
        target: 2 * bare,
        better: 'lower',
      },
    ];
  } catch (error) {
    console.error(await network.hosts(), network.orchestrator.log());
    throw error;
  } finally {
    await network.stop();
  }
};
