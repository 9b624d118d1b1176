/**
 * Tests how `svc up` ends when it is stopped or killed during launches, also on an engine that is slow or does not
 * answer. Either nothing is left, or it prints what is left and the commands that remove it. The next start reports no
 * problem that no longer exists.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pause, until } from '#runtime/pause.ts';
import { type Ended, type Svc, startSvc } from '../../support/cli/svc.ts';
import { docker, newInstallation, runtimes } from '../../support/orchestrator/runtimes.ts';
import { prepareDocker } from '../../support/programs/prepare-docker.ts';
import { killNaming, processesNaming } from '../../support/programs/processes.ts';
import { findRuntimes, isLong, isSingle, type Runtime } from './extent.ts';
import { type Link, startLink } from './link.ts';

const timeoutMs = 180_000;
const socket = process.env.DOCKER_HOST?.replace(/^unix:\/\//, '') ?? '/var/run/docker.sock';
const run = promisify(execFile);

/**
 * Delays in milliseconds from the time at which `svc up` reports that it is up, with launches in progress, to the
 * signal.
 */
const delaysMs = isLong ? [0, 300, 1_000, 2_500] : [300];
const poolSize = isLong ? 4 : 2;

/** Returns true if the engine listens on a socket, which a test can slow down or make hang. */
const hasSocket = (runtime: Runtime): boolean => {
  if (runtime === 'process' || existsSync(socket)) return true;
  console.info(`left out on Docker: its engine is not at ${socket}`);
  return false;
};
const found = (await findRuntimes()).filter(hasSocket);
const isLeft = !isLong && found.length > 1;
if (isLeft)
  console.info('left out on Docker: how svc up ends there takes long, and is for longer sweeps');
const tried = isLeft ? found.filter((runtime) => runtime === 'process') : found;

describe.skipIf(isSingle).each(tried)('svc up on the %s runtime', (runtime) => {
  let data: string;
  let engine: Link | undefined;
  let running: Svc | undefined;

  beforeAll(async () => {
    if (runtime === 'process') return;
    // Builds the image here if necessary, so that no test includes the build in its time.
    const installation = newInstallation();
    await prepareDocker(installation);
    await docker('network', 'rm', `svc-${installation}`);
    engine = await startLink({ to: { path: socket } });
  }, 300_000);

  afterAll(async () => {
    await engine?.stop();
  });

  beforeEach(() => {
    data = mkdtempSync(join(tmpdir(), 'svc-stops-'));
  });

  afterEach(async () => {
    engine?.slow(0);
    engine?.hang(false);
    running?.signal('SIGKILL');
    killNaming(data);
    rmSync(data, { recursive: true, force: true });
  });

  const installation = (): string =>
    (JSON.parse(readFileSync(join(data, 'secrets.json'), 'utf8')) as { installation: string })
      .installation;

  const leftOvers = async (): Promise<string[]> => [
    ...(await runtimes[runtime].leftovers(installation())),
    ...processesNaming(installation()).map(({ commandLine }) => commandLine),
  ];

  const up = async (says: string, pool = poolSize): Promise<Svc> => {
    const words = ['up', '--data', data, '--port', '0', '--runtime', runtime];
    const env = engine === undefined ? {} : { DOCKER_HOST: `tcp://127.0.0.1:${engine.port}` };
    running = startSvc([...words, '--pool', String(pool)], env);
    await running.prints(says);
    return running;
  };

  const end = async (svc: Svc, signal: NodeJS.Signals): Promise<Ended> => {
    svc.signal(signal);
    const ended = await svc.ended();
    running = undefined;
    return ended;
  };

  it.each(delaysMs)(
    'leaves nothing behind when it gets SIGTERM %i ms after it is up',
    async (delayMs) => {
      const svc = await up('up after');
      engine?.slow(200);
      await pause(delayMs);
      const ended = await end(svc, 'SIGINT');
      expect(ended.status, ended.err).toBe(0);
      expect(ended.out).toContain('stopping');
      expect(await leftOvers(), ended.out).toEqual([]);
    },
    timeoutMs,
  );

  it.each(delaysMs)(
    'starts again without a warning, and ends, when it was killed %i ms after it was up',
    async (delayMs) => {
      const svc = await up('up after');
      await pause(delayMs);
      await end(svc, 'SIGKILL');
      const next = await up(`${poolSize} world hosts warm`);
      const ended = await end(next, 'SIGINT');
      expect(ended.out).toContain('the last svc up did not end properly; removing what it left');
      expect(ended.out).not.toContain('launches no world hosts for now');
      expect(await leftOvers()).toEqual([]);
    },
    timeoutMs,
  );

  it.runIf(isLong)(
    'leaves nothing behind when its orchestrator is killed while it stops',
    {
      timeout: timeoutMs,
    },
    async () => {
      const svc = await up(`${poolSize} world hosts warm`);
      engine?.slow(200);
      svc.signal('SIGINT');
      await svc.prints('stopping');
      const [program] = processesNaming(`svc orchestrator ${installation()}`);
      process.kill(program?.pid as number, 'SIGKILL');
      const ended = await svc.ended();
      expect(ended.out).toContain('the orchestrator did not remove all world hosts');
      expect(await leftOvers(), ended.out).toEqual([]);
    },
  );

  it.runIf(isLong && runtime === 'docker')(
    'reports what is left and which commands remove it when a second signal comes while the engine hangs',
    { timeout: timeoutMs },
    async () => {
      const svc = await up('2 world hosts warm', 2);
      engine?.hang(true);
      svc.signal('SIGINT');
      await svc.prints('the world hosts are still being removed');
      const ended = await end(svc, 'SIGINT');
      engine?.hang(false);
      expect(ended.out).toContain('killed; the next svc up on this folder cleans up');
      const commands = ended.out.split('\n').filter((line) => /^ {2}docker /.test(line));
      expect(commands).toHaveLength(2);
      expect(await leftOvers()).not.toEqual([]);
      await run('sh', ['-ec', commands.join('\n')], { timeout: 60_000 });
      await until(async () => (await leftOvers()).length === 0, {
        timeoutMs: 30_000,
        what: 'nothing is left',
      });
    },
  );
});
