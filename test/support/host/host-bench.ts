/**
 * A complete world host, with real workers for user code, against a stand-in for the control plane. Tests with the
 * real control plane are in `test/`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { machineClock } from '#domain/world-clock.ts';
import type { HostIdentity } from '#hosting/link.ts';
import { until } from '#runtime/pause.ts';
import type { Running } from '#runtime/run.ts';
import { Secret } from '#runtime/secret.ts';
import type { Assignment } from '#wire/host-api/assignment.ts';
import { codeDirectory, type HostConfig } from '../../../world-host-image/config.ts';
import { startHost } from '../../../world-host-image/program.ts';
import { startUserCode } from '../../../world-host-image/usercode/runner.ts';
import { sampleVersion } from '../worlds/sample-world.ts';
import { type Received, type StandInControl, startStandInControl } from './stand-in-control.ts';

/** A version of the sample world. */
export const version = sampleVersion();
/** Route of the sample world that lists and creates issues. */
export const issues = '/repos/ann/engine/issues';

/** A host, the control plane that it reports to, and its working folder. */
export type Bench = {
  control: StandInControl;
  host: Running;
  workDir: string;
  /** Resolves when the host has logged this message. */
  logged(message: string): Promise<string>;
};

/** Starts a host for the current test and stops it at the test's end. */
export const startBench = async ({
  blobs,
}: Pick<typeof version, 'blobs'> = version): Promise<Bench> => {
  const control = await startStandInControl(blobs);
  const folder = await mkdtemp(join(tmpdir(), 'svc-host-test-'));
  const workDir = join(folder, 'work');
  const lines: string[] = [];
  const config: HostConfig = {
    controlUrl: control.url,
    hostId: 'hst-test',
    generation: 0,
    tokenFile: '-',
    listen: { host: '127.0.0.1', port: 0 },
    reportAddress: true,
    workDir,
    snapshots: { folder: join(folder, 'snapshots'), mostBytes: 2 ** 30 },
    python: 'python3',
    searchPath: '',
    userCode: { memoryMb: 192, boundary: 'auto' },
    namespaces: [],
    logLevel: 'silent',
  };
  const identity: HostIdentity = { hostId: config.hostId, generation: config.generation };
  const mixin = () => ({ sessionId: identity.sessionId });
  const log = pino({ level: 'debug', mixin }, { write: (line) => lines.push(line) });
  const userCode = startUserCode({ python: 'python3', workDir: codeDirectory(config), log });
  const token = new Secret('host-token');
  const host = await startHost({ config, token, log, identity, userCode });
  onTestFinished(async () => {
    await host.stop();
    await control.stop();
    await rm(folder, { recursive: true, maxRetries: 5 });
  });
  const logged = (message: string) =>
    until(() => lines.find((line) => line.includes(message)), {
      timeoutMs: 30_000,
      what: `"${message}" in the log`,
    });
  return { control, host, workDir, logged };
};

/** Builds an assignment to a session of the version. */
export const assignment = (parts: Partial<Assignment> = {}): Assignment => ({
  sessionId: 'ses-1',
  generation: 1,
  sessionToken: 'st-one',
  worldSlug: 'sample',
  bundle: version.bundle,
  snapshot: version.snapshot,
  blobs: {},
  task: null,
  surfaces: ['api'],
  clock: machineClock,
  seed: null,
  ...parts,
});

/** A task that is done when issue 2 is closed. */
export const task: Assignment['task'] = {
  name: 'close it',
  seed: { rows: { users: [{ login: 'cy', id: 3 }] } },
  grader: {
    kind: 'assertions',
    checks: [{ name: 'closed', entity: 'issues', where: { number: 2, state: 'closed' } }],
  },
};

/** Returns true if a message reports that its host is warm: a report of its own, or the end of a session. */
const saysWarm = ({ operation, body }: Received): boolean =>
  operation === 'reportWarm' || (operation === 'reportClosed' && body.recycled !== undefined);

/** Opens a session and returns a function that sends requests to its API. */
export const openOn = async (
  control: StandInControl,
  parts: Partial<Assignment> = {},
  nth = 1,
): Promise<(method: string, path: string, body?: unknown, token?: string) => Promise<Response>> => {
  // A host reports its address only once.
  const { body: first } = await control.message('reportWarm');
  await until(() => control.received.filter(saysWarm).length >= nth, {
    timeoutMs: 10_000,
    everyMs: 2,
    what: `report ${nth} that the host is warm`,
  });
  control.assign(assignment(parts));
  await control.message('reportReady', nth);
  return (method, path, body, token = parts.sessionToken ?? 'st-one') =>
    fetch(`${first.address}${path}`, {
      method,
      headers: { authorization: `token ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
};
