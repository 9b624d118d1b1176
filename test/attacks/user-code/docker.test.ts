/**
 * The kernel boundary of user code in the container of a host, under the engine's own seccomp
 * profile.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/id.ts';
import { until } from '#runtime/pause.ts';
import { Secret } from '#runtime/secret.ts';
import type { Driver } from '../../../orchestrator/driver/driver.ts';
import {
  behindInContainer,
  expectHeld,
  languages,
  programs,
  type Report,
} from '../../support/host/kernel-attacks.ts';
import { type HostApi, startHostApi } from '../../support/orchestrator/host-api.ts';
import { testPool } from '../../support/orchestrator/pools.ts';
import {
  docker,
  driverOf,
  newInstallation,
  prepareQuietly,
  runtimes,
} from '../../support/orchestrator/runtimes.ts';
import { dockerAnswers } from '../../support/programs/prepare-docker.ts';

const hasDocker = await dockerAnswers();
if (!hasDocker) console.info('user code on Docker is not tested: no Docker engine answers');

describe.skipIf(!hasDocker)('in the container of a host', () => {
  const installation = newInstallation();
  const hostId = newId('hst');
  const folder = '/tmp/attacked';
  let control: HostApi;
  let driver: Driver;
  let host: number;

  const inside = (...command: string[]): Promise<string> =>
    docker('exec', `svc-${hostId}`, ...command);
  const shell = (script: string): Promise<string> => inside('sh', '-c', script);

  beforeAll(async () => {
    const first = await driverOf(runtimes.docker, installation, 'http://127.0.0.1:1');
    const { listen, host: machine, image } = await prepareQuietly(first);
    control = await startHostApi(['127.0.0.1', ...(listen === null ? [] : [listen])]);
    const controlUrl = `http://${machine}:${control.port}`;
    driver = await driverOf(runtimes.docker, installation, controlUrl, image);
    const shape = testPool({ isolation: 'container' });
    await driver.launch({ hostId, generation: 0, token: new Secret('token'), shape });
    await until(() => control.warm.has(hostId), { timeoutMs: 20_000, what: `${hostId} warm` });
    host = Number(await shell('cat /proc/1/task/1/children'));
    await shell(`mkdir ${folder} && echo secret >${folder}/secret`);
  }, 300_000);

  afterAll(async () => {
    await driver.destroy(hostId);
    await driver.dismantle();
    await control.close();
  });

  it.each(languages)('code in %s can compute and nothing else', async (language) => {
    const secret = `${folder}/secret`;
    const targets = { host, secret, folder, abstract: 'unused', socket: `${folder}/socket` };
    const program = programs('/usr/bin/python3', '/usr/local/bin/node', targets)[language] ?? [];
    const packages = '/opt/svc/world-host-image/usercode/python';
    const launch = { python: 'python3', packages, readable: [], program };
    expectHeld(JSON.parse(await inside(...behindInContainer(launch))) as Report);
    expect(await shell(`cat ${secret}; ls ${folder}`)).toBe('secret\nsecret');
  });

  it('the worker of a warm host is behind the whole boundary, and the host itself is not', async () => {
    const children = `cat /proc/${host}/task/*/children`;
    const lines = async (pids: string, name: string): Promise<string[]> =>
      (await shell(`for pid in ${pids}; do grep -h ${name}: /proc/$pid/status; done`))
        .split('\n')
        .map((line) => line.split('\t').at(-1) ?? '');
    expect(await lines(`$(${children})`, 'NoNewPrivs')).toEqual(['1']);
    // A worker has one seccomp filter more than its host, which has the engine's.
    const [own] = await lines(String(host), 'Seccomp_filters');
    const theirs = await lines(`$(${children})`, 'Seccomp_filters');
    expect(theirs.map(Number)).toEqual([Number(own) + 1]);
    const scores = await shell(`for pid in $(${children}); do cat /proc/$pid/oom_score_adj; done`);
    expect(scores).toBe('1000');
  });

  it('no signal opens a debugger in a host', async () => {
    await shell(`kill -USR1 ${host}`);
    await shell('sleep 0.2');
    // Port 9229 in the table of TCP sockets.
    expect(await shell('cat /proc/net/tcp /proc/net/tcp6')).not.toMatch(/:240D /);
    expect(await shell(`kill -0 ${host} && echo alive`)).toBe('alive');
  });
});
