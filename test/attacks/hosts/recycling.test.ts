/**
 * Leftovers of a session on its host, tried on real hosts. They are removed before the next session, or the host
 * reports them and is drained (`test/api/sessions/hosts.test.ts`). The boundary of user code prevents most of them. The
 * tests plant them from outside, as the host's own user, since the check must also work without the boundary.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type DrivenHost,
  type DrivenHosts,
  findMissingRuntimes,
  hostRuntimes,
  prepareDrivenHosts,
} from '../../support/host/driven-host.ts';
import { assignment, version } from '../../support/host/host-bench.ts';
import { processesNaming } from '../../support/programs/processes.ts';
import { runtimesOfTier } from '../../support/run/tier.ts';

const missing = await findMissingRuntimes();
for (const name of runtimesOfTier(hostRuntimes).filter((each) => missing[each] !== undefined)) {
  console.info(`${name} is not tested: ${missing[name]}`);
}

/** Beginning of the code of planted programs; a unique text on the command line identifies their processes. */
const beginning = `
import ctypes, os, socket, sys, time
libc = ctypes.CDLL(None)
def sleep(*closed):
    for number in closed: os.close(number)
    time.sleep(1000)
`;
const ownSession = `
if os.fork() == 0:
    os.setsid()
    sleep(0, 1, 2)
`;
const daemon = `
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: sleep(0, 1, 2)
    os._exit(0)
os.wait()
`;
const hidden = `
if os.fork() == 0:
    os.setsid()
    libc.prctl(4, 0)  # closed to others: its folder in /proc is not this user's any more
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("\\0hidden")
    listener.listen()
    sleep(0, 1, 2)
`;
const sharedMemory = 'assert libc.shmget(0x53, 4096, 0o1600) >= 0\n';
const filesIn = (places: string[]): string => `
for place in ${JSON.stringify(places)}:
    os.makedirs(place + "/deep")
    for name in (place + "/file", place + "/.hidden", place + "/deep/file"):
        with open(name, "w") as file: file.write("of the session")
    os.mkfifo(place + "/pipe")
    os.symlink("/etc/hostname", place + "/link")
    socket.socket(socket.AF_UNIX).bind(place + "/socket")
`;
const queue = '/dev/mqueue/left';

const plant = async ({ python }: DrivenHost, script: string, mark = ''): Promise<void> => {
  expect((await python(`${beginning}${script}\nprint("planted")`, mark)).trim()).toBe('planted');
};

/** Serves a session with code in both languages; `nth` counts the sessions of the host. */
const begin = async ({ control }: DrivenHost, nth = 1): Promise<void> => {
  await control.message('reportWarm', nth);
  control.assign(assignment({ sessionId: `ses-${nth}`, generation: 2 * nth - 1 }));
  await control.message('reportReady', nth);
  expect((await control.call('tool', 'close_all', { repo: 'engine' })).output).toBe(2);
  expect((await control.call('tool', 'count_open', { repo: 'engine' })).output).toBe(0);
};

/** Closes the session so that another can follow; returns the leftovers that the host reported. */
const recycle = async ({ control }: DrivenHost, nth = 1): Promise<unknown> => {
  control.close(true, 'recycle');
  return (await control.message('reportWarm', nth + 1)).body.found;
};

const outlived = expect.stringMatching(/^process \d+ \(.+\) had outlived its worker$/);

describe.each(runtimesOfTier(hostRuntimes))('a host on %s', (name) => {
  describe.skipIf(missing[name] !== undefined)('after a session', () => {
    let hosts: DrivenHosts;
    beforeAll(async () => {
      hosts = await prepareDrivenHosts(name);
    }, 300_000);
    afterAll(() => hosts.stop());

    const open = async (): Promise<DrivenHost> => {
      const host = await hosts.start(version.blobs);
      await begin(host);
      return host;
    };

    it('has removed its files, pipes, sockets and queues from every writable place', async () => {
      const host = await open();
      const shared = {
        process: [],
        bubblewrap: ['/tmp', '/dev', '/dev/shm'],
        docker: ['/tmp', '/dev/shm'],
      }[name];
      const folders = [host.workDir, `${host.workDir}/code`, ...shared];
      const places = folders.map((folder) => `${folder}/left`);
      await plant(host, filesIn(places));
      if (name === 'docker') await plant(host, `open("${queue}", "w").close()`);
      expect(await recycle(host)).toEqual([]);
      const gone = JSON.stringify([...places, queue]);
      await plant(host, `assert not any(map(os.path.exists, ${gone}))`);
      // The host also serves the next session.
      await begin(host, 2);
      expect(await recycle(host, 2)).toEqual([]);
    });

    it('has killed the processes that left the process group of its worker, and reports them', async () => {
      const host = await open();
      const mark = `left-in-${host.hostId}`;
      await plant(host, ownSession, mark);
      await plant(host, daemon, mark);
      expect(processesNaming(mark)).toHaveLength(2);
      expect(await recycle(host)).toEqual([outlived, outlived]);
      expect(processesNaming(mark)).toEqual([]);
    });

    it.skipIf(name === 'process')(
      'reports shared memory, and a process that hides itself',
      async () => {
        const host = await open();
        await plant(host, `${hidden}${sharedMemory}`);
        expect(await recycle(host)).toEqual([outlived, '/proc/sysvipc/shm: key 83, id 0']);
      },
    );

    it.runIf(name === 'docker')('reports a file that it cannot remove', async () => {
      const host = await open();
      await host.asRoot('touch', '/tmp/held');
      expect(await recycle(host)).toEqual(['/tmp/held was left and cannot be removed']);
    });

    it.runIf(name === 'docker')('reports a socket whose process it cannot see', async () => {
      const host = await open();
      const script = `${beginning}
listener = socket.socket(socket.AF_UNIX)
listener.bind("\\0of-another")
listener.listen()
if os.fork() == 0: sleep(0, 1, 2)
`;
      await host.asRoot('python3', '-c', script);
      expect(await recycle(host)).toEqual([
        expect.stringMatching(/^\/proc\/net\/unix: socket \d+ at @of-another$/),
      ]);
    });
  });
});
