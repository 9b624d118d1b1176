/** Tests the watch of pods against a stand-in for the API server, whose connections a test can break. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig, type V1Pod } from '@kubernetes/client-node';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import { labelsOf } from '../labels.ts';
import type { Cluster } from './cluster.ts';
import { PodWatch } from './pod-watch.ts';

const pod = (hostId: string, version: number, phase = 'Running'): V1Pod => ({
  metadata: {
    name: `svc-${hostId}`,
    uid: `uid-${hostId}`,
    resourceVersion: String(version),
    labels: labelsOf({ installation: 'here', pool: 'p', hostId, digest: 'd' }, 'host'),
  },
  status: { phase },
});

let server: Server;
let port: number;
let watch: PodWatch;
/** Open watches, and the resource versions that they requested. */
let streams: ServerResponse[];
let versions: string[];
let listed: V1Pod[];
let lists: number;

const listen = async (on = 0): Promise<void> => {
  server = createServer((request, response) => {
    versions.push(new URL(request.url ?? '', 'http://x').searchParams.get('resourceVersion') ?? '');
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    streams.push(response);
  }).listen(on, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
};

const stopServer = async (): Promise<void> => {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
};

const send = (type: string, object: object): void => {
  streams.at(-1)?.write(`${JSON.stringify({ type, object })}\n`);
};

const soon = (accepts: () => boolean, what: string) =>
  until(
    () => {
      try {
        return accepts();
      } catch {
        return false; // not known yet
      }
    },
    { timeoutMs: 15_000, what },
  );

const hosts = (): string[] =>
  watch
    .list()
    .map(({ container }) => `${container.hostId} ${container.phase}`)
    .sort();

const isKnown = (...wanted: string[]) =>
  soon(() => JSON.stringify(hosts()) === JSON.stringify(wanted), wanted.join(', '));

const hasStream = (count: number) => soon(() => streams.length === count, `${count} watches`);

beforeEach(async () => {
  streams = [];
  versions = [];
  lists = 0;
  listed = [pod('a', 5, 'Pending')];
  await listen();
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: 'c', server: `http://127.0.0.1:${port}`, skipTLSVerify: true }],
    users: [{ name: 'u' }],
    contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
    currentContext: 'x',
  });
  const list = async () => {
    lists += 1;
    return { pods: listed, resourceVersion: '10' };
  };
  watch = new PodWatch({
    installation: 'here',
    namespace: 'hosts',
    cluster: { config } as Cluster,
    pods: { list } as never,
    log: createLog('orchestrator', 'silent'),
    toleratedMs: 200,
    onChange: () => undefined,
  });
});

afterEach(async () => {
  await watch.stop();
  await stopServer();
});

it('the watch knows no pods before its first list, and each change after it', async () => {
  expect(() => watch.list()).toThrow(/the list of pods is not available now/);
  await isKnown('a pending');
  await hasStream(1);
  send('ADDED', pod('b', 11, 'Pending'));
  await isKnown('a pending', 'b pending');
  send('DELETED', pod('a', 12));
  await isKnown('b pending');
});

it('the watch resumes from its last version after a break, without a new list', async () => {
  await hasStream(1);
  send('BOOKMARK', { metadata: { resourceVersion: '40' } });
  await isKnown('a pending');
  send('ADDED', pod('b', 41, 'Pending'));
  await isKnown('a pending', 'b pending');
  streams[0]?.destroy();
  await hasStream(2);
  expect([versions, lists]).toEqual([['10', '41'], 1]);
});

it('the watch lists anew when the cluster has forgotten the version that it resumes from', async () => {
  await hasStream(1);
  listed = [pod('c', 20, 'Pending')];
  send('ERROR', { code: 410, message: 'too old resource version' });
  streams[0]?.end();
  await hasStream(2);
  await isKnown('c pending');
  expect(lists).toBe(2);
});

it('the watch keeps the pods that it knows while the cluster does not answer', async () => {
  await hasStream(1);
  await isKnown('a pending');
  await stopServer();
  await until(
    () => {
      try {
        expect(hosts()).toEqual(['a pending']);
        return false;
      } catch (error) {
        expect(String(error)).toContain('the list of pods is not available now');
        return true;
      }
    },
    { timeoutMs: 15_000, what: 'the reported outage' },
  );
  await listen(port);
  await isKnown('a pending');
});

it('the watch does not let an older event undo what this orchestrator has done to a pod since', async () => {
  await hasStream(1);
  watch.expect(pod('b', 30, 'Failed'));
  expect(hosts()).toEqual(['a pending', 'b exited']);
  send('ADDED', pod('b', 29, 'Pending'));
  send('ADDED', pod('c', 31, 'Pending'));
  await isKnown('a pending', 'b exited', 'c pending');
  watch.forget('svc-b');
  expect(hosts()).toEqual(['a pending', 'c pending']);
});
