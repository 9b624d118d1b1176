/**
 * A bucket on an S3 server, behind a proxy that a test can close, stall and open again. The server runs in the test's
 * own process and checks signatures. If `SVC_TEST_S3_BUCKET` names a bucket, it is the server of `AWS_ENDPOINT_URL_S3`
 * (`http://host:port`), with the keys of the environment.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Server as HttpServer } from 'node:http';
import { createRequire } from 'node:module';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { BlobStoreConfig } from '../../../src/control/platform/blobs/blobs.ts';

/** Types for the parts of the untyped package that are used here. */
type S3rver = {
  httpServer: HttpServer;
  middleware: ((ctx: S3Request, next: () => Promise<unknown>) => Promise<unknown>)[];
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
};
type S3Request = { path: string; mountPath?: string; state: Record<string, unknown> };
type S3rverOptions = {
  address: string;
  port: number;
  silent: boolean;
  directory: string;
  vhostBuckets: boolean;
  configureBuckets: { name: string }[];
};
const S3rver = createRequire(import.meta.url)('@20minutes/s3rver') as new (
  options: S3rverOptions,
) => S3rver;

type Served = { host: string; port: number; bucket: string; keys: S3Keys; stop(): Promise<void> };

/** Variables that Amazon's client reads from the environment. */
export type S3Keys = { AWS_ACCESS_KEY_ID: string; AWS_SECRET_ACCESS_KEY: string };

/**
 * Corrects a signature check. Amazon's client signs the path of a bucket with a slash at its end, which the server
 * leaves out when it checks the signature. The server keeps the slash if it takes the bucket for a part of the host
 * name.
 */
const signsBucket: S3rver['middleware'][number] = (ctx, next) => {
  if (/^\/[^/]+\/$/.test(ctx.path)) {
    ctx.mountPath = '/';
    Object.defineProperty(ctx.state, 'vhost', { get: () => true, set: () => undefined });
  }
  return next();
};

const serveOwn = async (): Promise<Served> => {
  const directory = await mkdtemp(join(tmpdir(), 'svc-test-s3-'));
  const bucket = 'svc-blobs';
  const server = new S3rver({
    ...{ address: '127.0.0.1', port: 0, silent: true, directory, vhostBuckets: false },
    configureBuckets: [{ name: bucket }],
  });
  server.middleware.unshift(signsBucket);
  const { port } = await server.run();
  return {
    ...{ host: '127.0.0.1', port, bucket },
    keys: { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' }, // the only ones it knows
    async stop() {
      const closed = server.close();
      server.httpServer.closeAllConnections();
      await closed;
      await rm(directory, { recursive: true, force: true });
    },
  };
};

const serveGiven = (bucket: string, env: Record<string, string | undefined>): Served => {
  const { hostname, port } = new URL(env.AWS_ENDPOINT_URL_S3 ?? '');
  const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } = env;
  return {
    ...{ host: hostname, port: Number(port), bucket },
    keys: { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY },
    stop: async () => undefined,
  };
};

/** A proxy to a server; it does not read the bytes that it passes on. */
type Door = {
  url: string;
  /** Closes all connections and accepts no others. */
  shut(): Promise<void>;
  open(): Promise<void>;
  /** Closes this many of the next connections as soon as they are established. */
  dropNext(count: number): void;
  /** Stops passing bytes on, without closing connections. */
  jam(): void;
};

const openDoor = async ({ host, port }: Served): Promise<Door> => {
  const sockets = new Set<Socket>();
  let drops = 0;
  let isJammed = false;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket.on('error', () => undefined)); // the event "close" follows
    return socket.once('close', () => sockets.delete(socket));
  };
  const pass = (client: Socket): void => {
    keep(client);
    if (drops > 0) {
      drops -= 1;
      client.destroy();
      return;
    }
    if (isJammed) return;
    const server = keep(connect({ host, port }));
    client.once('close', () => server.destroy());
    server.once('close', () => client.destroy());
    client.pipe(server).pipe(client);
  };
  const endAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const listen = async (at: number): Promise<Server> => {
    const door = createServer(pass).listen(at, '127.0.0.1');
    await once(door, 'listening');
    return door;
  };
  let door = await listen(0);
  const own = (door.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${own}`,
    async shut() {
      const closed = once(door, 'close');
      door.close();
      endAll();
      await closed;
    },
    async open() {
      door = await listen(own);
    },
    dropNext(count) {
      drops = count;
      endAll();
    },
    jam() {
      isJammed = true;
      endAll();
    },
  };
};

export type TestBucket = {
  /** Part of the bucket that no other test uses. */
  place: Extract<BlobStoreConfig, { kind: 's3' }>;
  keys: S3Keys;
  /** Environment with which a control plane keeps its blobs there. */
  env: Record<string, string>;
  door: Door;
  /** Returns the bytes under a name. */
  read(name: string): Promise<Uint8Array>;
  /** Writes bytes under a name. */
  write(name: string, bytes: Uint8Array): Promise<void>;
  stop(): Promise<void>;
};

/** Starts the server and its proxy. */
export const startTestBucket = async (): Promise<TestBucket> => {
  const given = process.env.SVC_TEST_S3_BUCKET;
  const served = given === undefined ? await serveOwn() : serveGiven(given, process.env);
  const door = await openDoor(served);
  const { bucket, keys } = served;
  const prefix = `test/${randomBytes(6).toString('hex')}`;
  const region = 'us-east-1';
  const client = new S3Client({
    ...{ region, forcePathStyle: true, endpoint: `http://${served.host}:${served.port}` },
    credentials: {
      accessKeyId: keys.AWS_ACCESS_KEY_ID,
      secretAccessKey: keys.AWS_SECRET_ACCESS_KEY,
    },
  });
  return {
    place: { kind: 's3', bucket, prefix, region, endpoint: door.url, pathStyle: true },
    keys,
    env: { SVC_BLOB_URL: `s3://${bucket}/${prefix}`, AWS_ENDPOINT_URL_S3: door.url, ...keys },
    door,
    async read(name) {
      const get = new GetObjectCommand({ Bucket: bucket, Key: `${prefix}/${name}` });
      return (await (await client.send(get)).Body?.transformToByteArray()) ?? new Uint8Array();
    },
    async write(name, bytes) {
      const Key = `${prefix}/${name}`;
      await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: bytes }));
    },
    async stop() {
      client.destroy();
      await door.shut();
      await served.stop();
    },
  };
};
