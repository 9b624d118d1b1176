import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeLeftOnEngine, listContainers, probeEngine } from './docker-engine.ts';

describe('client of the Docker engine', () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-engine-'));
  const socket = join(root, 'engine.sock');
  const env = { DOCKER_HOST: `unix://${socket}` };
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(decodeURIComponent(request.url ?? ''));
    const [, noun] = /^\/(\w+)/.exec(request.url ?? '') ?? [];
    response.end(JSON.stringify(answers[noun ?? '']));
  });
  const answers: Record<string, unknown> = { version: { Version: '28.1' } };
  beforeEach(() => {
    Object.assign(answers, {
      containers: [{ Names: ['/one'] }],
      networks: [{ Name: 'svc-ins-1' }],
    });
  });

  beforeAll(() => new Promise<void>((resolve) => server.listen(socket, resolve)));
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
    rmSync(root, { recursive: true, force: true });
  });

  it('returns the version of the engine', async () => {
    expect(await probeEngine(env)).toEqual({ answers: true, version: '28.1' });
  });

  it('lists the containers of one installation, including those that have ended', async () => {
    expect(await listContainers(env, 'ins-1')).toEqual(['one']);
    expect(asked.at(-1)).toBe(
      '/containers/json?all=1&filters={"label":["svc.installation=ins-1"]}',
    );
  });

  it('describes what remains of an installation, with the commands to remove it', async () => {
    const commands = [
      '  docker ps --all --quiet --filter label=svc.installation=ins-1 | xargs -r docker rm --force --volumes',
      '  docker network rm svc-ins-1',
    ].join('\n');
    expect(await describeLeftOnEngine(env, 'ins-1')).toBe(
      `remains on Docker: 1 container and the network svc-ins-1; the next svc up on this folder removes it; to remove it now, run\n${commands}`,
    );
    answers.containers = [];
    expect(await describeLeftOnEngine(env, 'ins-1')).toContain('0 containers and the network');
    answers.networks = [];
    expect(await describeLeftOnEngine(env, 'ins-1')).toBeUndefined();
    const away = await describeLeftOnEngine({ DOCKER_HOST: 'unix:///nonexistent.sock' }, 'ins-1');
    expect(away).toContain('did not say what remains there (its socket does not exist)');
    expect(away).toContain(commands);
  });

  it.each([
    ['unix:///nonexistent.sock', 'unix:///nonexistent.sock: its socket does not exist'],
    ['tcp://127.0.0.1:1', 'tcp://127.0.0.1:1: nothing listens at its address'],
    ['ssh://host', 'DOCKER_HOST is "ssh://host"; only unix:// and tcp:// are supported'],
    ['nonsense', 'DOCKER_HOST is "nonsense", not a URL'],
  ])('reports why %s does not answer', async (host, why) => {
    expect(await probeEngine({ DOCKER_HOST: host })).toEqual({ answers: false, why });
  });
});
