/**
 * Tests the browser image on a real engine: it starts as in production, without capabilities and on a read-only root.
 * It shows a page from inside the container, and Chromium uses its own sandbox exactly if the container allows that.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/id.ts';
import { until } from '#runtime/pause.ts';
import { findEngine } from '../../../orchestrator/engine/engine.ts';
import { ensureImage } from '../../../orchestrator/images/image.ts';
import { readImageInputs } from '../../../orchestrator/images/image-inputs.ts';
import { browserImage } from '../../../orchestrator/images/image-recipes.ts';
import { exclusively } from '../../support/database/postgres.ts';
import { docker } from '../../support/orchestrator/runtimes.ts';
import { dockerAnswers } from '../../support/programs/prepare-docker.ts';

const hasDocker = await dockerAnswers();
if (!hasDocker) console.info('the image of browsers is not tested: no Docker engine answers');

const root = join(import.meta.dirname, '../../..');
const filter = join(root, 'orchestrator/driver/docker/browser-calls.json');
const startMs = 60_000;

type Line = { id?: number; answer?: Record<string, unknown>; error?: unknown; listening?: unknown };

/** A browser program in a container, controlled by lines on its standard input. */
type Contained = {
  name: string;
  /** Sends a command and resolves with the answer. */
  ask(command: Record<string, unknown>): Promise<Line>;
  process: ChildProcessWithoutNullStreams;
};

let image: string;
let running: Contained | undefined;

const start = (...options: string[]): Contained => {
  const name = `svc-test-${newId('hst')}`;
  const shut = ['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges'];
  const limits = ['--memory=1g', '--pids-limit=300', '--shm-size=64m', '--network=none'];
  const scratch = ['--tmpfs=/tmp:rw,nosuid,nodev,mode=1777,size=512m', '--env=HOME=/tmp'];
  const words = ['run', '--rm', '--interactive', '--init', '--name', name, ...shut, ...limits];
  const child = spawn('docker', [...words, ...scratch, ...options, image]);
  const lines: Line[] = [];
  createInterface({ input: child.stdout }).on('line', (text) => lines.push(JSON.parse(text)));
  let lastId = 0;
  const contained: Contained = {
    name,
    process: child,
    ask(command) {
      lastId += 1;
      const id = lastId;
      child.stdin.write(`${JSON.stringify({ id, ...command })}\n`);
      const answered = () => lines.find((line) => line.id === id);
      return until(answered, { timeoutMs: startMs, what: `an answer to ${command.do}` });
    },
  };
  running = contained;
  return contained;
};

describe.skipIf(!hasDocker)('the browser image', () => {
  beforeAll(async () => {
    const engine = await findEngine({ engine: process.env.DOCKER_HOST, home: process.env.HOME });
    const inputs = await readImageInputs(root, undefined, browserImage);
    const preparing = { onProgress: () => undefined, signal: new AbortController().signal };
    await exclusively('the image of browsers', () =>
      ensureImage(engine, { root, inputs, baseImage: undefined }, preparing),
    );
    image = inputs.image;
  }, 900_000);

  afterEach(async () => {
    const { process: child } = running ?? {};
    running = undefined;
    if (child === undefined || child.exitCode !== null) return;
    child.stdin.end(); // the program ends when its input closes, and so does the container
    await until(() => child.exitCode !== null, { timeoutMs: startMs, what: 'the end' });
  });

  it("reports that Chromium has no sandbox under the engine's default filter, and runs", async () => {
    const { ask, process: child } = start();
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk;
    });
    const { answer } = await ask({ do: 'status' });
    expect(answer).toMatchObject({ condition: 'warm', isSandboxed: false });
    expect(said).toContain('Chromium runs without its own sandbox');
  });

  it('does not start without a sandbox where one is required', async () => {
    const { process: child } = start('--env=SVC_BROWSER_SANDBOX=require');
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk;
    });
    await until(() => child.exitCode !== null, { timeoutMs: startMs, what: 'the end' });
    expect(child.exitCode).not.toBe(0);
    expect(said).toContain('SVC_BROWSER_SANDBOX=off');
  });

  it('has the full sandbox under its own seccomp filter, and no other rights', async () => {
    const { ask, name } = start(
      `--security-opt=seccomp=${filter}`,
      '--env=SVC_BROWSER_SANDBOX=require',
    );
    const { answer } = await ask({ do: 'status' });
    expect(answer).toMatchObject({ condition: 'warm', isSandboxed: true });
    expect(await docker('exec', name, 'id', '-u')).toBe('10001');
    const status = await docker('exec', name, 'cat', '/proc/self/status');
    expect(status).toMatch(/^CapBnd:\s+0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    const writing = docker('exec', name, 'touch', '/opt/svc/browser-image/main.ts');
    await expect(writing).rejects.toThrow(/Read-only file system|Permission denied/);
    // A process that creates a user namespace is root there, but gains no rights on the host.
    const inside = (...words: string[]) =>
      docker('exec', name, 'unshare', '--user', '--map-root-user', '--net', ...words);
    expect(await inside('id', '-u')).toBe('0');
    await expect(inside('mount', '-t', 'tmpfs', 'x', '/mnt')).rejects.toThrow(/permitted|denied/i);
    await expect(inside('nft', 'list', 'ruleset')).rejects.toThrow(/netlink|permitted/i);
  });
});
