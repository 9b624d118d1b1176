import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listContainers, probeEngine } from './docker-engine.ts';

describe('docker engine', () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-engine-'));
  const socket = join(root, 'engine.sock');
  const env = { DOCKER_HOST: `unix://${socket}` };
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(decodeURIComponent(request.url ?? ''));
    const isListing = request.url?.startsWith('/containers') === true;
    response.end(JSON.stringify(isListing ? [{ Names: ['/one'] }] : { Version: '28.1' }));
  });

  beforeAll(() => new Promise<void>((resolve) => server.listen(socket, resolve)));
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
    rmSync(root, { recursive: true, force: true });
  });

  it('tells its version', async () => {
    expect(await probeEngine(env)).toEqual({ answers: true, version: '28.1' });
  });

  it('lists the containers of one installation, also those that have ended', async () => {
    expect(await listContainers(env, 'ins-1')).toEqual(['one']);
    expect(asked.at(-1)).toBe(
      '/containers/json?all=1&filters={"label":["svc.installation=ins-1"]}',
    );
  });

  it.each([
    ['unix:///nonexistent.sock', 'unix:///nonexistent.sock: no such socket'],
    ['tcp://127.0.0.1:1', 'tcp://127.0.0.1:1: nothing listens there'],
    ['ssh://host', 'DOCKER_HOST is "ssh://host"; only unix:// and tcp:// are understood'],
    ['nonsense', 'DOCKER_HOST is "nonsense", not a URL'],
  ])('says why %s does not answer', async (host, why) => {
    expect(await probeEngine({ DOCKER_HOST: host })).toEqual({ answers: false, why });
  });
});
