/**
 * Attacks on data batches and chunks of another project: knowing their ids or digests gives no
 * access.
 */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWorld } from '#wire/public-api/operations.ts';
import { type Chunk, chunkOf, senderTo } from '../../support/control/batches.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { addNeighbour, type Neighbour } from '../../support/control/second-project.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let control: OwnControl;
let neighbour: Neighbour;
let sender: ReturnType<typeof senderTo>;
const secret: Chunk = chunkOf([{ id: 4_711, name: 'a secret of the first project' }], 'folders');

beforeAll(async () => {
  control = await startNotesControl({ imports: { memoryMb: 256, diskMib: 64 } });
  sender = senderTo(control, 'notes');
  neighbour = await addNeighbour(control);
  const from = encodeTree(notesWorld());
  await neighbour.ask('POST', '/worlds', { slug: 'theirs', from });
  await control.send(createWorld, { body: { slug: 'other', from } });
});

afterAll(() => control.stop());

const registration = ({ digest, rows, bytes, entity }: Chunk) => ({
  ...{ ordinal: 0, digest, rows, bytes: bytes.byteLength },
  ...(entity === undefined ? {} : { entity }),
});

describe('another project', () => {
  it('gets 404 for a foreign batch or chunk through every world', async () => {
    const batchId = await sender.open();
    const chunk = await sender.sendChunk(batchId, 0, secret);
    const opened = await neighbour.ask('POST', '/worlds/theirs/data/batches', {});
    expect(opened.status).toBe(201);
    for (const slug of ['notes', 'theirs']) {
      const base = `/worlds/${slug}/data/batches/${batchId}`;
      const answers = await Promise.all([
        neighbour.ask('GET', base),
        neighbour.ask('DELETE', base),
        neighbour.ask('POST', `${base}/chunks`, registration(secret)),
        neighbour.ask('POST', `${base}/chunks/${chunk.chunkId}/uploaded`),
        neighbour.ask('POST', `${base}/complete`),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    }
    const own = (opened.body as { batchId: string }).batchId;
    const path = `/worlds/theirs/data/batches/${own}/chunks/${chunk.chunkId}/uploaded`;
    expect((await neighbour.ask('POST', path)).status).toBe(404);
    expect((await sender.read(batchId)).state).toBe('uploading');
  });

  it('must upload bytes that another project already has, and cannot confirm a chunk without doing so', async () => {
    const { body } = await neighbour.ask('POST', '/worlds/theirs/data/batches', {});
    const base = `/worlds/theirs/data/batches/${(body as { batchId: string }).batchId}`;
    const { body: chunk } = await neighbour.ask('POST', `${base}/chunks`, registration(secret));
    expect(chunk).toMatchObject({ uploaded: false, uploadUrl: expect.any(String) });
    const { chunkId } = chunk as { chunkId: string };
    const confirmed = await neighbour.ask('POST', `${base}/chunks/${chunkId}/uploaded`);
    expect(confirmed.status).toBe(409);
    expect((await neighbour.ask('POST', `${base}/complete`)).status).toBe(409);
  });
});

describe('another world of the project', () => {
  it('must upload bytes that the first world already has', async () => {
    const there = senderTo(control, 'other');
    const chunk = await there.register(await there.open(), 0, secret);
    expect(chunk).toMatchObject({ uploaded: false, uploadUrl: expect.any(String) });
  });
});

/**
 * Malformed chunks: each ends in a refusal or a failure with a reason, within bounded time and
 * memory.
 */
describe('a chunk that', () => {
  const raw = (bytes: Buffer, rows = 1): Chunk => ({
    ...{ bytes, rows, entity: 'folders' },
    digest: createHash('sha256').update(bytes).digest('hex'),
  });
  const bomb = () => gzipSync(Buffer.alloc(200 * 1024 * 1024, 0x20), { level: 9 });
  const hostile: [string, () => Chunk][] = [
    ['is not compressed', () => raw(Buffer.from('{"id": 1, "name": "n"}\n'))],
    ['is cut off', () => raw(secret.bytes.subarray(0, secret.bytes.byteLength - 9))],
    ['is one line of 200 MiB', () => raw(bomb())],
    ['holds no JSON', () => raw(gzipSync('{"id": 1,\n'))],
    ['holds half characters', () => raw(gzipSync(Buffer.from([0x22, 0xc3, 0x22, 0x0a])))],
    ['holds other rows than it says', () => raw(gzipSync('{"id": 1, "name": "n"}\n'.repeat(3)))],
    ['names a prototype', () => raw(gzipSync('{"__proto__": {"id": 1}, "id": 1}\n'))],
    ['nests without end', () => raw(gzipSync(`${'['.repeat(500_000)}\n`))],
  ];

  it.each(hostile)('%s ends its batch without a new version', async (_, make) => {
    const ended = await sender.send({}, make());
    expect(['refused', 'failed']).toContain(ended.state);
    if (ended.state === 'refused') expect(ended.refusals[0]?.detail).toEqual(expect.any(String));
    else expect(ended.error?.message).toEqual(expect.any(String));
    expect(ended.versionId).toBeNull();
  });
});
