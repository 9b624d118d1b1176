/**
 * The attack with a stolen host token, end to end on real hosts behind a real gateway. Code of a
 * world has read the token; an attacker outside reports another address with it, then calls the
 * session's public address. The test derives the token from the installation's secret, because no
 * readable place contains it.
 */

import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWorld } from '#wire/public-api/operations.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';
import { hostToken, workingToken } from '../../../src/control/platform/tokens/tokens.ts';
import { close, open } from '../../support/control/sessions.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import {
  ask,
  endServer,
  gatewayDomain,
  gatewayEnv,
  listenLocally,
} from '../../support/gateway/gateway.ts';
import { docker } from '../../support/orchestrator/runtimes.ts';
import { addressOf, type Network, startNetwork } from '../../support/programs/network.ts';
import { dockerAnswers, prepareDocker } from '../../support/programs/prepare-docker.ts';
import { type Program, startProgram } from '../../support/programs/program.ts';
import { runtimesOfTier } from '../../support/run/tier.ts';

const names = runtimesOfTier(['process', 'docker'] as const);
const hasDocker = names.includes('docker') && (await dockerAnswers());
if (names.includes('docker') && !hasDocker)
  console.info('docker is not attacked: no Docker engine answers');

describe.each(names)('on %s', (runtime) => {
  describe.skipIf(runtime === 'docker' && !hasDocker)('a stolen token of a host', () => {
    let database: TestDatabase;
    let network: Network;
    let gateway: Program;
    let port: number;
    let session: SessionView;
    let host: { id: string; token: string; generation: number };
    let asked = 0;
    const internal = createServer((_, response) => {
      asked += 1;
      response.end('internal');
    });
    let internalPort: number;

    beforeAll(async () => {
      internalPort = await listenLocally(internal);
      database = await testDatabase();
      const installation = `attack-${randomBytes(4).toString('hex')}`;
      const prepared = runtime === 'docker' ? await prepareDocker(installation) : undefined;
      const { SVC_GATEWAY_URL = '', SVC_GATEWAY_TOKEN = '' } = gatewayEnv('');
      network = await startNetwork({
        databaseUrl: database.url,
        installation,
        runtime,
        poolSize: 1,
        env: { SVC_GATEWAY_URL, SVC_GATEWAY_TOKEN },
        ...(prepared === undefined ? {} : { hostName: prepared.host }),
        ...(prepared?.listen == null ? {} : { listen: prepared.listen }),
      });
      gateway = await startProgram('src/gateway/main.ts', gatewayEnv(network.internalUrl));
      port = Number(new URL(addressOf(gateway)).port);
      await network.client.send(createWorld, {
        body: { slug: 'code-hosting', from: 'code-hosting' },
      });
      await network.warm(1);
      session = await open(network.client, { slug: 'code-hosting' });
      const row = (await network.hosts()).find(({ session_id }) => session_id === session.id);
      const { id = '', generation = 0 } = row ?? {};
      host = { id, generation, token: workingToken(network.secret, id) };
    }, 300_000);

    afterAll(async () => {
      await close(network.client, session.id);
      await gateway.end('SIGTERM');
      await network.stop();
      await database.drop();
      await endServer(internal);
    });

    const tell = async (
      path: string,
      body: object,
      { base = network.hostUrl, token = host.token } = {},
    ) => {
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
      };
      const url = `${base}/api/host${path}`;
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: answer.status, text: await answer.text() };
    };

    /** Requests the session's public address without the session's token. */
    const look = () =>
      ask(port, { host: `${session.id}--api.${gatewayDomain}`, path: '/repos/northquay/berth' });

    it('does not redirect its session to a server of the internal network', async () => {
      for (const address of [
        `http://127.0.0.1:${internalPort}`,
        `http://localhost:${internalPort}`,
        `http://127.1:${internalPort}`,
        `http://[::ffff:127.0.0.1]:${internalPort}`,
        network.internalUrl,
        database.url.replace(/^.*@/, 'http://').replace(/\/[^/]*$/, ''),
      ]) {
        for (const generation of [0, host.generation, host.generation + 1]) {
          const { status, text } = await tell(`/hosts/${host.id}/warm`, { generation, address });
          expect(status, `${address}: ${text}`).toBe(403);
        }
        const { status, body } = await look();
        expect({ status, body }).toMatchObject({ status: 401 });
        expect(body).not.toContain('internal');
      }
      expect(asked).toBe(0);
      const result =
        runtime === 'docker'
          ? "a host's token is used from another address"
          : 'a host reported an address that it may not report';
      expect(network.control.log()).toContain(result);
    });

    it('is refused when it is the launch token of the host', async () => {
      const token = hostToken(network.secret, host.id);
      const { generation, id } = host;
      for (const [path, body] of [
        [`/hosts/${id}/heartbeat`, { generation, rssBytes: 1 }],
        [`/hosts/${id}/warm`, { generation: 0, renews: true }],
        [`/hosts/${id}/warm`, { generation, renews: true }],
        [`/hosts/${id}/poll`, { generation: 0 }],
        [`/hosts/${id}/leaving`, { generation }],
        [`/world-sessions/${session.id}/closed`, { generation }],
      ] as const) {
        const { status, text } = await tell(path, body, { token });
        expect(status, path).toBe(401);
        expect(text).not.toContain(host.token);
      }
      expect(await look()).toMatchObject({ status: 401 });
    });

    it('is refused at the addresses of other APIs', async () => {
      const { generation } = host;
      for (const base of [network.url, network.internalUrl]) {
        const beat = await tell(
          `/hosts/${host.id}/heartbeat`,
          { generation, rssBytes: 1 },
          { base },
        );
        expect(beat.status).toBe(404);
      }
    });

    it.runIf(runtime === 'docker')(
      'is refused from the machine, and accepted from its container',
      async () => {
        const { generation } = host;
        const body = { generation, rssBytes: 1 };
        const outside = await tell(`/hosts/${host.id}/heartbeat`, body);
        expect(outside).toMatchObject({
          status: 403,
          text: expect.stringContaining('not accepted from'),
        });
        const leaving = await tell(`/hosts/${host.id}/leaving`, { generation });
        expect(leaving.status).toBe(403);
        const script = `
        const send = (path, body) => fetch(${JSON.stringify(`${network.hostUrl}/api/host/hosts/${host.id}`)} + path, {
          method: 'POST',
          headers: { authorization: 'Bearer ${host.token}', 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }).then(({ status }) => status);
        const generation = ${generation};
        console.log(JSON.stringify([
          await send('/heartbeat', { generation, rssBytes: 1 }),
          await send('/warm', { generation, address: 'http://127.0.0.1:${internalPort}' }),
        ]));`;
        const said = await docker(
          ...['exec', `svc-${host.id}`, 'node', '--input-type=module', '-e', script],
        );
        expect(JSON.parse(said)).toEqual([200, 403]);
        expect(await look()).toMatchObject({ status: 401 });
        expect(asked).toBe(0);
      },
    );

    it.runIf(runtime === 'docker')(
      'is useless at other APIs, which a container cannot connect to',
      async () => {
        const { hostname } = new URL(network.hostUrl);
        const ports = [network.url, network.internalUrl].map((url) => new URL(url).port);
        const script = `
        import { connect } from 'node:net';
        const isOpen = (port) => new Promise((resolve) => {
          connect({ host: '${hostname}', port, timeout: 1000 })
            .on('connect', () => resolve(true)).on('timeout', () => resolve(false))
            .on('error', () => resolve(false));
        });
        console.log(JSON.stringify(await Promise.all(${JSON.stringify(ports)}.map(isOpen))));
        process.exit(0);`;
        const said = await docker(
          ...['exec', `svc-${host.id}`, 'node', '--input-type=module', '-e', script],
        );
        expect(JSON.parse(said)).toEqual([false, false]);
      },
    );
  });
});
