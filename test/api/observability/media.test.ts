/**
 * Tests media of traces and dataset items: uploaded once, checked against the announced digest, and readable only
 * within the project.
 */
import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { createAsker } from '../../support/control/client.ts';
import type { TestControl } from '../../support/control/control.ts';
import { reachable, sumOf } from '../../support/control/file-uploads.ts';
import { addNeighbour } from '../../support/control/second-project.ts';
import { shareControl } from '../../support/control/shared-control.ts';

let control: TestControl;

beforeAll(async () => {
  control = await shareControl();
});

type Body = Record<string, string | null>;

const ask = async (method: string, path: string, body?: object, as?: string) => {
  const own = basicAuthorization(control.publicKey, control.secretKey);
  const parts = { as: as ?? own, ...(body === undefined ? {} : { body }) };
  const answer = await createAsker(control)(method, path, parts);
  return { status: answer.status, body: answer.body as Body };
};

const wanted = (text: string, rest: object = {}) => ({
  ...{ traceId: 't1', observationId: null, datasetId: null, datasetItemId: null, field: 'input' },
  ...{ contentType: 'image/png', contentLength: Buffer.byteLength(text), sha256Hash: sumOf(text) },
  ...rest,
});

const send = (url: string | null | undefined, text: string, headers: object = {}) =>
  fetch(reachable(control, url ?? ''), {
    method: 'PUT',
    body: text,
    headers: {
      ...{ 'content-type': 'image/png', 'x-amz-checksum-sha256': sumOf(text) },
      ...{ 'x-ms-blob-type': 'BlockBlob', ...headers },
    },
  });

const report = (status = 200) => ({
  ...{ uploadedAt: '2026-03-01T10:00:00.123456+00:00', uploadHttpStatus: status },
  ...{ uploadHttpError: null, uploadTimeMs: 12 },
});

const random = () => randomBytes(12).toString('hex');

describe('a media file', () => {
  it('exists once its bytes are uploaded, under an id that the sender can compute', async () => {
    const text = random();
    const asked = await ask('POST', '/media', wanted(text));
    const { mediaId, uploadUrl } = asked.body;
    expect(asked.status).toBe(201);
    expect(mediaId).toBe(Buffer.from(sumOf(text), 'base64').toString('base64url').slice(0, 22));
    const path = `/media/${mediaId}`;
    expect((await ask('GET', path)).status).toBe(404);
    expect((await ask('PATCH', path, report())).status).toBe(409);
    expect((await ask('PATCH', path, report(500))).status).toBe(200);
    expect((await ask('GET', path)).status).toBe(404);
    expect((await send(uploadUrl, text)).status).toBe(200);
    expect(await ask('PATCH', path, report())).toMatchObject({
      status: 200,
      body: { message: 'OK' },
    });
    const { body } = await ask('GET', path);
    expect(body).toMatchObject({
      ...{ mediaId, contentType: 'image/png', contentLength: text.length },
      uploadedAt: '2026-03-01T10:00:00.123Z',
    });
    const read = await fetch(reachable(control, body.url ?? ''));
    expect(await read.text()).toBe(text);
    expect(read.headers.get('content-type')).toBe('image/png');
    expect(Date.parse(body.urlExpiry ?? '')).toBeGreaterThan(Date.now());
  });

  it('is uploaded once, although several traces and items refer to it', async () => {
    const text = random();
    const [first, second] = await Promise.all([
      ask('POST', '/media', wanted(text)),
      ask('POST', '/media', wanted(text, { traceId: 't2', field: 'output' })),
    ]);
    expect(second.body.mediaId).toBe(first.body.mediaId);
    // Either upload address works.
    await send(first.body.uploadUrl, text);
    expect((await ask('PATCH', `/media/${first.body.mediaId}`, report())).status).toBe(200);
    const of = { traceId: null, datasetId: 'd', datasetItemId: 'i', field: 'expectedOutput' };
    expect(await ask('POST', '/media', wanted(text, of))).toMatchObject({
      status: 201,
      body: { mediaId: first.body.mediaId, uploadUrl: null },
    });
    const links = await control.sql('select from media_links where media_id = $1', [
      first.body.mediaId,
    ]);
    expect(links).toHaveLength(3);
  });

  it('is refused if it differs from the announced bytes, length or type', async () => {
    const text = random();
    const { uploadUrl, mediaId } = (await ask('POST', '/media', wanted(text))).body;
    expect((await send(uploadUrl, random())).status).toBe(400);
    expect((await send(uploadUrl, text.slice(1))).status).toBe(400);
    expect((await send(uploadUrl, text, { 'content-type': 'text/html' })).status).toBe(400);
    expect((await ask('PATCH', `/media/${mediaId}`, report())).status).toBe(409);
    expect((await ask('GET', `/media/${mediaId}`)).status).toBe(404);
    const other = await ask('POST', '/media', wanted(text, { contentLength: 3 }));
    expect(other.status).toBe(400);
  });

  it.each([
    {},
    { traceId: null },
    { traceId: 1 },
    { traceId: 'a\0b' },
    { datasetId: 'd', datasetItemId: 'i' },
    { traceId: null, datasetId: 'd' },
    { field: 'expectedOutput' },
    { field: 'other' },
    { field: null },
    { contentType: 'png' },
    { contentLength: 0 },
    { contentLength: '1' },
    { sha256Hash: 'x' },
    { sha256Hash: null },
  ])('cannot be requested with %j', async (rest) => {
    const body = Object.keys(rest).length === 0 ? {} : wanted('x', rest);
    expect((await ask('POST', '/media', body)).status).toBe(400);
  });

  it('belongs to its project, and another project must upload it again', async () => {
    const text = random();
    const mine = (await ask('POST', '/media', wanted(text))).body;
    await send(mine.uploadUrl, text);
    await ask('PATCH', `/media/${mine.mediaId}`, report());
    const { authorization } = await addNeighbour(control);
    expect((await ask('GET', `/media/${mine.mediaId}`, undefined, authorization)).status).toBe(404);
    const theirs = await ask('POST', '/media', wanted(text), authorization);
    expect(theirs.body.uploadUrl).toEqual(expect.any(String));
    const result = await ask('PATCH', `/media/${mine.mediaId}`, report(), authorization);
    expect(result.status).toBe(409);
  });

  it('ignores unknown members', async () => {
    const { status } = await ask('POST', '/media', wanted(random(), { other: [1] }));
    expect(status).toBe(201);
  });

  it('is listed with the dataset items that refer to it, once its bytes are uploaded', async () => {
    const text = random();
    const { mediaId, uploadUrl } = (await ask('POST', '/media', wanted(text))).body;
    const reference = `@@@langfuseMedia:type=image/png|id=${mediaId}|source=bytes@@@`;
    await ask('POST', '/v2/datasets', { name: 'pictured' });
    const item = {
      ...{ datasetName: 'pictured', id: 'pictured', input: { pictures: ['none', reference] } },
      ...{ expectedOutput: reference, metadata: { said: `see ${reference}` } },
    };
    expect((await ask('POST', '/dataset-items', item)).body.mediaReferences).toEqual([]);
    await send(uploadUrl, text);
    await ask('PATCH', `/media/${mediaId}`, report());
    const media = {
      ...{ mediaId, contentType: 'image/png', contentLength: Buffer.byteLength(text) },
      ...{ url: expect.stringContaining('http'), urlExpiry: expect.any(String) },
    };
    const referred = [
      { field: 'input', referenceString: reference, jsonPath: "$['pictures'][1]", media },
      { field: 'expectedOutput', referenceString: reference, jsonPath: '$', media },
    ];
    const read = await ask('GET', '/dataset-items/pictured');
    expect(read.body.mediaReferences).toEqual(referred);
    const listed = await ask('GET', '/dataset-items?datasetName=pictured');
    expect(listed.body.data).toMatchObject([{ mediaReferences: referred }]);
    const [{ media: shown } = { media: { url: '' } }] = read.body.mediaReferences as unknown as {
      media: { url: string };
    }[];
    expect(await (await fetch(reachable(control, shown.url))).text()).toBe(text);
  });
});
