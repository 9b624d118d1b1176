/**
 * What a session leaves behind in its host, tried on real hosts: it is gone before another session comes,
 * or the host says what it found, which drains it (`test/api/hosts.test.ts`). Most of it user code is not
 * let do in the first place; here it is planted from outside, as the host's own user, to show that the
 * proof does not lean on that.
 */
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/id.ts';
import { Secret } from '#runtime/secret.ts';
import type { Driver } from '../../orchestrator/driver/driver.ts';
import { assignment, version } from '../support/host-bench.ts';
import { testPool } from '../support/pools.ts';
import { dockerAnswers } from '../support/prepare-docker.ts';
import { killNaming, processesNaming } from '../support/processes.ts';
import {
  docker,
  driverOf,
  newInstallation,
  prepareQuietly,
  runtimes,
  sandboxWorks,
} from '../support/runtimes.ts';
import { type StandInControl, startStandInControl } from '../support/stand-in-control.ts';

const run = promisify(execFile);

const names = ['process', 'bubblewrap', 'docker'] as const;
type Name = (typeof names)[number];
const missing: Partial<Record<Name, string>> = {
  ...((await dockerAnswers()) ? {} : { docker: 'no Docker engine answers' }),
  ...((await sandboxWorks()) ? {} : { bubblewrap: 'bubblewrap does not work here' }),
};
for (const [name, why] of Object.entries(missing)) console.info(`${name} is not tested: ${why}`);

/** Python that leaves the last of its arguments running, and says what it has left. */
const leave = (body: string): string => `
import ctypes, os, socket, sys, time
libc = ctypes.CDLL(None)
def daemon(work):
    if os.fork() == 0:
        os.setsid()
        if os.fork() != 0: os._exit(0)
        for number in (0, 1, 2): os.close(number)
        work()
        time.sleep(1000)
    os.wait()
${body}
print("left")
`;

const hidden = `
def work():
    libc.prctl(4, 0)  # closed to others: its folder in /proc is no more this user's
    libc.prctl(15, b"python3")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("\\0" + sys.argv[1])
    listener.listen()
daemon(work)
`;
const sharedMemory = 'assert libc.shmget(0x53, 4096, 0o1600) >= 0';
const files = (places: string[]): string => `
for place in ${JSON.stringify(places)}:
    os.makedirs(place + "/deep", exist_ok=True)
    for name in (place + "/left", place + "/.left", place + "/deep/left"):
        with open(name, "w") as file: file.write("of the session")
    os.mkfifo(place + "/queue")
    socket.socket(socket.AF_UNIX).bind(place + "/socket")
`;

describe.each(names)('a host on %s', (name) => {
  describe.skipIf(missing[name] !== undefined)('after a session', () => {
    const runtime = runtimes[name];
    const installation = newInstallation();
    let addresses: string[];
    let hostName: string;
    let image: string | null;
    const ends: (() => Promise<void>)[] = [];

    beforeAll(async () => {
      const driver = await driverOf(runtime, installation, 'http://127.0.0.1:1');
      const { listen, host, ...prepared } = await prepareQuietly(driver);
      addresses = ['127.0.0.1', ...(listen === null ? [] : [listen])];
      hostName = host;
      image = prepared.image;
    }, 300_000);

    afterAll(async () => {
      for (const end of ends.reverse()) await end();
      killNaming(`svc-${installation}`);
      const driver = await driverOf(runtime, installation, 'http://127.0.0.1:1', image);
      await driver.dismantle();
    });

    type Host = {
      control: StandInControl;
      driver: Driver;
      hostId: string;
      /** Runs Python as the host's user, within what the host has to itself. */
      plant(script: string, mark?: string): Promise<void>;
      /** What the host found when its session was closed to be followed by another. */
      recycle(nth: number): Promise<unknown>;
    };

    const folderOf = (hostId: string): string => join(tmpdir(), `svc-${installation}`, hostId);

    const planting = async (hostId: string, script: string, mark: string): Promise<string> => {
      const python = ['python3', '-c', script, mark];
      if (name === 'docker') return docker('exec', `svc-${hostId}`, ...python);
      const env = { PATH: process.env.PATH ?? '', TMPDIR: `${folderOf(hostId)}/work/code` };
      if (name === 'process') return (await run('python3', python.slice(1), { env })).stdout;
      const host = processesNaming(hostId).find(({ commandLine }) => /^\S*node /.test(commandLine));
      const into = ['--user', '--pid', '--mount', '--ipc', '--preserve-credentials'];
      const words = ['--target', String(host?.pid), ...into, ...python];
      return (await run('nsenter', words, { env })).stdout;
    };

    const open = async (): Promise<Host> => {
      const control = await startStandInControl(version.blobs, addresses);
      const url = `http://${hostName}:${control.port}`;
      const driver = await driverOf(runtime, installation, url, image);
      const hostId = newId('hst');
      const isolation = name === 'docker' ? 'container' : 'process';
      const shape = testPool({ isolation });
      await driver.launch({ hostId, generation: 0, token: new Secret('token'), shape });
      ends.push(async () => {
        await driver.destroy(hostId);
        await control.stop();
      });
      const begin = async (nth: number): Promise<void> => {
        await control.message('reportWarm', nth);
        const sessionId = `ses-${nth}`;
        control.assign(assignment({ sessionId, generation: 2 * nth - 1 }));
        await control.message('reportReady', nth);
        expect((await control.call('tool', 'close_all', { repo: 'engine' })).output).toBe(2);
        expect((await control.call('tool', 'count_open', { repo: 'engine' })).output).toBe(0);
      };
      await begin(1);
      return {
        control,
        driver,
        hostId,
        async plant(script, mark = '') {
          expect((await planting(hostId, leave(script), mark)).trim()).toBe('left');
        },
        async recycle(nth) {
          if (nth > 1) await begin(nth);
          control.close(true, 'recycle');
          return (await control.message('reportWarm', nth + 1)).body.found;
        },
      };
    };

    it('is clean where nothing was left, session after session', async () => {
      const { recycle } = await open();
      expect(await recycle(1)).toEqual([]);
      expect(await recycle(2)).toEqual([]);
    });

    it('has no file, queue or socket of it in any place that can be written to', async () => {
      const { hostId, plant, recycle } = await open();
      const own = name === 'docker' ? '/tmp/work' : `${folderOf(hostId)}/work`;
      const shared = name === 'process' ? [] : ['/tmp', '/dev/shm'];
      const places = [`${own}/left`, `${own}/code/left`, ...shared.map((path) => `${path}/left`)];
      await plant(files(places));
      if (name === 'docker') await plant('open("/dev/mqueue/left", "w").close()');
      expect(await recycle(1)).toEqual([]);
      const queues = name === 'docker' ? ['/dev/mqueue/left'] : [];
      await plant(`assert not any(map(os.path.exists, ${JSON.stringify([...places, ...queues])}))`);
    });

    it('ends what left its worker’s group, and does not pass for clean', async () => {
      const { plant, recycle, hostId } = await open();
      const mark = `left-by-${hostId}`;
      await plant('daemon(lambda: None)', mark);
      await plant(
        'if os.fork() == 0:\n    os.setsid()\n    os.close(1)\n    os.close(2)\n    time.sleep(1000)',
        mark,
      );
      expect(processesNaming(mark).length).toBeGreaterThan(0);
      const found = await recycle(1);
      expect(found).toHaveLength(2);
      expect(found).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^process \d+ \(.+\) had outlived its worker$/),
        ]),
      );
      expect(processesNaming(mark)).toEqual([]);
    });

    it.skipIf(name === 'process')(
      'finds a process that hides itself, with its socket, and shared memory',
      async () => {
        const { plant, recycle } = await open();
        await plant(`${hidden}\n${sharedMemory}`, 'listens');
        expect(await recycle(1)).toEqual([
          expect.stringMatching(/^process \d+ \(python3\) had outlived its worker$/),
          '/proc/sysvipc/shm: key 83, id 0',
        ]);
      },
    );

    it.runIf(name === 'docker')('tells of a file that it cannot remove', async () => {
      const { hostId, recycle } = await open();
      await docker('exec', '--user', '0', `svc-${hostId}`, 'touch', '/tmp/held');
      expect(await recycle(1)).toEqual(['/tmp/held was left and cannot be removed']);
    });
  });
});
