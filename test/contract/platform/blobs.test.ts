/**
 * Tests the contract of every blob store, and the behavior of a bucket whose server is misconfigured or unavailable.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { Secret } from '#runtime/secret.ts';
import { openDatabase } from '../../../src/control/db/core/database.ts';
import {
  type BlobStoreConfig,
  type Blobs,
  digestOf,
  pathOf,
} from '../../../src/control/platform/blobs/blobs.ts';
import { openBlobs } from '../../../src/control/platform/blobs/open.ts';
import { testDatabase } from '../../support/database/postgres.ts';
import { execute } from '../../support/database/sql.ts';
import { startTestBucket, type TestBucket } from '../../support/programs/s3.ts';

/** A store's location, with direct access that bypasses the store. */
type Ground = Pick<TestBucket, 'read' | 'write' | 'stop'> & { open(): Promise<Blobs> };

/** Opens a store that must not use the database. */
const openAt = (place: BlobStoreConfig): Promise<Blobs> =>
  openBlobs(
    place,
    { query: () => Promise.reject(new Error('there is no database')) },
    join(tmpdir(), 'svc-test-work'),
  );

const startFolder = async (): Promise<Ground> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-test-blobs-'));
  return {
    open: () => openAt({ kind: 'folder', folder }),
    read: (name) => readFile(join(folder, name)),
    async write(name, bytes) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), bytes);
    },
    stop: () => rm(folder, { recursive: true, force: true }),
  };
};

const startDatabase = async (): Promise<Ground> => {
  const { url, drop } = await testDatabase();
  const db = openDatabase(new Secret(url), createLog('test', 'silent'));
  const digestAt = (name: string): string => `sha256:${name.split('/')[1]}`;
  return {
    open: () => openBlobs({ kind: 'database' }, db, tmpdir()),
    async read(name) {
      const rows = await execute<{ bytes: Buffer }>(
        url,
        'select bytes from blobs where digest = $1',
        [digestAt(name)],
      );
      return rows[0]?.bytes ?? Buffer.of();
    },
    async write(name, bytes) {
      const sql = `insert into blobs values ($1, $2)
        on conflict (digest) do update set bytes = excluded.bytes`;
      await execute(url, sql, [digestAt(name), Buffer.from(bytes)]);
    },
    async stop() {
      await db.close();
      await drop();
    },
  };
};

const useKeys = ({ keys }: TestBucket): void => {
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  for (const [name, value] of Object.entries(keys)) vi.stubEnv(name, value);
};

const startBucket = async (): Promise<TestBucket> => {
  const bucket = await startTestBucket();
  useKeys(bucket);
  return bucket;
};

const startBucketGround = async (): Promise<Ground> => {
  const bucket = await startBucket();
  return { ...bucket, open: () => openAt(bucket.place) };
};

afterEach(() => {
  vi.unstubAllEnvs();
});

const text = new TextEncoder().encode('some bytes');
const unknown = digestOf('a blob that was never stored');
const filled = (size: number): Uint8Array => new Uint8Array(size).map((_, index) => index * 31);

describe.each([
  { name: 'a folder', start: startFolder },
  { name: 'a bucket', start: startBucketGround },
  { name: 'a database', start: startDatabase },
])('a store of blobs in $name', ({ start }) => {
  let ground: Ground;
  let blobs: Blobs;
  let scratch: string;

  beforeEach(async () => {
    ground = await start();
    blobs = await ground.open();
    scratch = await mkdtemp(join(tmpdir(), 'svc-test-scratch-'));
  });

  afterEach(async () => {
    await ground.stop();
    await rm(scratch, { recursive: true, force: true });
  });

  it.each([0, 1, 20_000_000])('returns %i bytes by their digest', async (size) => {
    const bytes = filled(size);
    const digest = await blobs.put(bytes);
    expect(digest).toBe(digestOf(bytes));
    expect(await blobs.size(digest)).toBe(size);
    expect(Buffer.compare(await blobs.get(digest), bytes)).toBe(0);
  });

  it('stores equal bytes under one name, even when written concurrently', async () => {
    const digests = await Promise.all(Array.from({ length: 10 }, () => blobs.put(text)));
    expect(new Set(digests)).toEqual(new Set([digestOf(text)]));
    await blobs.put(text);
    expect(Buffer.from(await ground.read(pathOf(digestOf(text)))).toString()).toBe('some bytes');
  });

  it('accepts many concurrent writes', async () => {
    const many = Array.from({ length: 100 }, (_, index) => filled(index * 1_000));
    const digests = await Promise.all(many.map((bytes) => blobs.put(bytes)));
    const got = await Promise.all(digests.map((digest) => blobs.get(digest)));
    expect(got.map(digestOf)).toEqual(digests);
  });

  it('is the same for every client that opens it, and includes blobs that were copied into it', async () => {
    const other = await ground.open();
    expect(Buffer.from(await other.get(await blobs.put(text))).toString()).toBe('some bytes');
    const copied = filled(1_000);
    await ground.write(pathOf(digestOf(copied)), copied);
    expect(Buffer.compare(await blobs.get(digestOf(copied)), copied)).toBe(0);
    await blobs.check();
  });

  it('removes a blob, and accepts the removal of a missing one', async () => {
    const digest = await blobs.put(text);
    await blobs.remove(digest);
    await blobs.remove(digest);
    await expect(blobs.get(digest)).rejects.toMatchObject({ code: 'not_found' });
    await expect(blobs.read(digest)).rejects.toMatchObject({ code: 'not_found' });
    expect(await blobs.put(text)).toBe(digest);
    expect(await blobs.size(digest)).toBe(text.byteLength);
    await blobs.put(new Uint8Array());
    await blobs.remove(digestOf(new Uint8Array()));
    await blobs.check();
  });

  it('reports a missing blob as not found', async () => {
    const answers = await Promise.allSettled([blobs.get(unknown), blobs.size(unknown)]);
    expect(answers).toMatchObject([
      { reason: { code: 'not_found' } },
      { reason: { code: 'not_found' } },
    ]);
  });

  it('refuses to return bytes that have changed since they were put, and names the blob', async () => {
    const digest = await blobs.put(text);
    await ground.write(pathOf(digest), new TextEncoder().encode('same bytes'));
    const getting = blobs.get(digest);
    await expect(getting).rejects.toMatchObject({ code: 'internal' });
    await expect(getting).rejects.toThrow(`blob ${digest} in ${blobs.location} is damaged`);
  });

  it.each([0, 1, 20_000_000])(
    'stores a file of %i bytes and reads it as a stream',
    async (size) => {
      const bytes = filled(size);
      const path = join(scratch, 'file');
      await writeFile(path, bytes);
      const digest = await blobs.putFile(path);
      expect(digest).toBe(digestOf(bytes));
      expect(await blobs.putFile(path)).toBe(digest);
      expect(await blobs.size(digest)).toBe(size);
      expect(Buffer.compare(await buffer(await blobs.read(digest)), bytes)).toBe(0);
      expect(Buffer.compare(await blobs.get(digest), bytes)).toBe(0);
    },
  );

  it('streams a blob, and a reader may stop early', async () => {
    const bytes = filled(20_000_000);
    const digest = await blobs.put(bytes);
    for await (const piece of await blobs.read(digest)) {
      expect((piece as Buffer).byteLength).toBeGreaterThan(0);
      break;
    }
    expect(Buffer.compare(await buffer(await blobs.read(digest)), bytes)).toBe(0);
  });

  it('ends a stream of damaged bytes with an error that names the blob', async () => {
    const digest = await blobs.put(text);
    await ground.write(pathOf(digest), new TextEncoder().encode('same bytes'));
    await expect(buffer(await blobs.read(digest))).rejects.toThrow(
      `blob ${digest} in ${blobs.location} is damaged`,
    );
  });

  it('replaces a damaged blob when its bytes are put again', async () => {
    const digest = await blobs.put(text);
    await ground.write(pathOf(digest), text.slice(0, 3));
    await blobs.put(text);
    expect(Buffer.from(await blobs.get(digest)).toString()).toBe('some bytes');
  });
});

describe('presigned URLs of a bucket', () => {
  let bucket: TestBucket;
  let blobs: Blobs;
  const bytes = filled(1_000);
  const awaited = { digest: digestOf(bytes), bytes: bytes.byteLength };

  beforeEach(async () => {
    bucket = await startBucket();
    blobs = await openAt(bucket.place);
  });

  afterEach(() => bucket.stop());

  const presigned = () => {
    if (blobs.presigned === undefined) throw new Error('a bucket gives no addresses');
    return blobs.presigned;
  };

  const send = async (body: Uint8Array, change: (url: string) => string = (url) => url) => {
    const { url, headers } = await presigned().upload('one', awaited);
    return fetch(change(url), { method: 'PUT', headers, body: Buffer.from(body) });
  };

  it('accept the expected bytes, which then become a blob, and let a client download it', async () => {
    await expect(presigned().take('one', awaited)).rejects.toMatchObject({ code: 'conflict' });
    expect((await send(bytes)).ok).toBe(true);
    await expect(blobs.get(awaited.digest)).rejects.toMatchObject({ code: 'not_found' });
    await presigned().take('one', awaited);
    expect(Buffer.compare(await blobs.get(awaited.digest), bytes)).toBe(0);
    const got = await fetch(await presigned().download(awaited.digest, { name: 'report.jsonl' }));
    expect(Buffer.compare(Buffer.from(await got.arrayBuffer()), bytes)).toBe(0);
    await presigned().drop('one');
    await presigned().drop('one');
    await expect(presigned().take('one', awaited)).rejects.toMatchObject({ code: 'conflict' });
  });

  it.each([
    ['other bytes of that size', filled(1_001).slice(1)],
    ['fewer', bytes.slice(1)],
    ['more', filled(1_001)],
  ])('never create a blob from %s', async (_, sent) => {
    await send(sent);
    await expect(presigned().take('one', awaited)).rejects.toMatchObject({
      code: expect.stringMatching(/^(invalid|conflict)$/),
    });
    await expect(blobs.get(awaited.digest)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('are refused when modified', async () => {
    const answer = await send(bytes, (url) => url.replace('/left/one', '/left/two'));
    expect(answer.status).toBe(403);
  });
});

describe('a bucket', () => {
  let bucket: TestBucket;

  beforeEach(async () => {
    bucket = await startBucket();
  });

  afterEach(() => bucket.stop());

  /** Returns the message of the failed open, and checks that the error does not contain the secret key. */
  const refusal = async (changed: Partial<TestBucket['place']> = {}): Promise<string> => {
    const error: unknown = await openAt({ ...bucket.place, ...changed }).catch((e) => e);
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('hush-hush');
    return (error as Error).message;
  };

  it('that does not exist is named in the error, with its server', async () => {
    const { prefix, endpoint } = bucket.place;
    expect(await refusal({ bucket: 'nobodys' })).toContain(
      `blobs in s3://nobodys/${prefix} at ${endpoint} cannot be used: NoSuchBucket`,
    );
  });

  it('cannot be opened with wrong keys, and the error names the permissions they need', async () => {
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'hush-hush');
    const message = await refusal();
    expect(message).toContain('SignatureDoesNotMatch');
    expect(message).toContain('s3:ListBucket');
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'UNKNOWN');
    expect(await refusal()).toContain(`at ${bucket.place.endpoint} cannot be used: `);
  });

  it('cannot be opened without keys, and the error explains how to set them', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', undefined);
    expect(await refusal()).toContain('set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
  });

  it('whose server is down is unavailable, and works again when the server is back', async () => {
    const blobs = await openAt(bucket.place);
    const digest = await blobs.put(text);
    await bucket.door.shut();
    const answers = await Promise.allSettled([
      ...[blobs.get(digest), blobs.size(digest), blobs.check()],
      blobs.put(filled(1_000)),
    ]);
    for (const answer of answers) {
      expect(answer).toMatchObject({
        reason: {
          code: 'unavailable',
          message: expect.stringMatching(`${bucket.place.endpoint}.*ECONNREFUSED`),
        },
      });
    }
    await bucket.door.open();
    expect(Buffer.from(await blobs.get(digest)).toString()).toBe('some bytes');
    await blobs.check();
  });

  it('works in spite of dropped connections', async () => {
    const blobs = await openAt(bucket.place);
    bucket.door.dropNext(3);
    const digest = await blobs.put(text);
    bucket.door.dropNext(3);
    expect(Buffer.from(await blobs.get(digest)).toString()).toBe('some bytes');
  });

  it('whose server does not answer fails after a timeout', async () => {
    const blobs = await openAt(bucket.place);
    bucket.door.jam();
    await expect(blobs.check()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('no answer in 3000 ms'),
    });
  });
});
