/** Who may call which route: keys of projects, of organizations, of hosts and of pools. */

import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import * as hostOperations from '#wire/host-api/operations.ts';
import type { OperationShape } from '#wire/operation.ts';
import * as poolOperations from '#wire/pool-api/operations.ts';
import * as publicOperations from '#wire/public-api/operations.ts';
import { warmHost } from '../support/host.ts';
import { type OwnControl, startOwnControl } from '../support/own-control.ts';

let control: OwnControl;

beforeAll(async () => {
  control = await startOwnControl();
});

afterAll(() => control.stop());

/** The operations of a module, which may export schemas beside them. */
const operationsOf = (module: object): OperationShape[] =>
  Object.values(module).filter((value) => 'access' in value && 'answers' in value);

const operations = operationsOf(publicOperations);
const reads = operations.filter(({ access }) => access === 'read');
const writes = operations.filter(({ access }) => access === 'write');

/** Sends an operation with parameters that lead nowhere. */
const send = (operation: OperationShape, authorization: string | undefined) =>
  control.raw({
    method: operation.method,
    path: `/api/public${operation.path.replace(/\{\w+\}/g, 'none')}`,
    headers: authorization === undefined ? {} : { authorization },
  });

describe.each(operations.map((operation) => [operation.id, operation] as const))(
  '%s without a valid key',
  (_, operation) => {
    const wrong: [string, () => string | undefined][] = [
      ['nothing', () => undefined],
      ['a wrong secret', () => basicAuthorization(control.publicKey, 'sk-wrong')],
      ['no secret', () => basicAuthorization(control.publicKey, '')],
      ['an unknown public key', () => basicAuthorization('pk-none', control.secretKey)],
      ['an unknown bearer', () => 'Bearer pk-none'],
      ['the secret key as bearer', () => `Bearer ${control.secretKey}`],
      ['another scheme', () => `Digest ${control.publicKey}`],
      ['rubbish', () => 'Basic %%%'],
    ];

    it.each(wrong)('answers 401 to %s', async (_what, authorization) => {
      const answer = await send(operation, authorization());
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toMatch(/^Basic realm=/);
      expect(answer.body).toEqual({ message: expect.any(String), error: 'unauthenticated' });
    });
  },
);

describe('the public key alone', () => {
  it.each(reads.map((operation) => [operation.id, operation] as const))(
    'may %s',
    async (_, operation) => {
      const { status } = await send(operation, `Bearer ${control.publicKey}`);
      expect([200, 404]).toContain(status);
    },
  );

  it.each(writes.map((operation) => [operation.id, operation] as const))(
    'may not %s',
    async (_, operation) => {
      const { status, body } = await send(operation, `Bearer ${control.publicKey}`);
      expect(status).toBe(403);
      expect(body).toEqual({ message: expect.any(String), error: 'forbidden' });
    },
  );
});

describe('other keys', () => {
  const addKey = async (publicKey: string, projectId: string | null): Promise<void> => {
    await control.sql(
      `insert into keys (id, organization_id, project_id, public_key, secret_hash)
       select $1, id, $2, $1, $3 from organizations`,
      [publicKey, projectId, createHash('sha256').update('sk-secret').digest()],
    );
  };

  it("answers 401 to an organization's key, in either form", async () => {
    await addKey('pk-organization', null);
    for (const authorization of [
      basicAuthorization('pk-organization', 'sk-secret'),
      'Bearer pk-organization',
    ]) {
      const answer = await send(publicOperations.listWorlds, authorization);
      expect(answer.status).toBe(401);
    }
  });

  it('answers 401 to a key that was revoked before it was used', async () => {
    const [project] = await control.sql<{ id: string }>('select id from projects');
    await addKey('pk-revoked', project?.id ?? null);
    await control.sql(`update keys set revoked_at = now() where public_key = 'pk-revoked'`);
    const answer = await send(
      publicOperations.listWorlds,
      basicAuthorization('pk-revoked', 'sk-secret'),
    );
    expect(answer.status).toBe(401);
  });

  it('do not open what belongs to another project', async () => {
    await control.sql(
      `insert into projects (id, organization_id, slug, name)
       select 'prj-other', id, 'other', 'other' from organizations`,
    );
    await addKey('pk-other', 'prj-other');
    const body = { slug: 'code-hosting', from: 'code-hosting' };
    await control.send(publicOperations.createWorld, { body });
    const opened = await control.send(publicOperations.openSession, {
      body: { slug: 'code-hosting' },
    });
    const authorization = basicAuthorization('pk-other', 'sk-secret');
    const path = `/api/public/world-sessions/${opened.body.id}`;
    const get = (at: string) =>
      control.raw({ method: 'GET', path: at, headers: { authorization } });
    expect((await get(path)).status).toBe(404);
    expect((await get(`${path}/calls`)).status).toBe(404);
    expect((await get('/api/public/worlds/code-hosting')).status).toBe(404);
    expect((await get('/api/public/environments')).body).toMatchObject({ data: [] });
    const foreign = await control.raw({
      method: 'POST',
      path: '/api/public/world-sessions',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ versionId: opened.body.versionId }),
    });
    expect(foreign.status).toBe(404);
    const ended = await control.raw({ method: 'DELETE', path, headers: { authorization } });
    expect(ended.status).toBe(404);
  });

  it('are stored as hashes alone', async () => {
    const rows = await control.sql<{ text: string }>('select k::text as text from keys k');
    expect(rows.some(({ text }) => text.includes(control.secretKey))).toBe(false);
  });
});

describe('the APIs of hosts and orchestrators', () => {
  const inner = [
    ...operationsOf(hostOperations).map((operation) => ['/api/host', operation] as const),
    ...operationsOf(poolOperations).map((operation) => ['/api/pool', operation] as const),
  ];

  it.each(inner.map(([base, operation]) => [operation.id, base, operation] as const))(
    'refuse the key of a project for %s',
    async (_, base, operation) => {
      const path = `${base}${operation.path.replace(/\{\w+\}/g, 'none')}`;
      for (const authorization of [
        basicAuthorization(control.publicKey, control.secretKey),
        `Bearer ${control.publicKey}`,
        'Bearer hst-none.none',
      ]) {
        const answer = await control.raw({
          method: operation.method,
          path,
          headers: { authorization },
        });
        expect(answer.status).toBe(401);
        expect(answer.headers['www-authenticate']).toMatch(/^Bearer realm=/);
      }
    },
  );

  it('let a host speak for itself alone', async () => {
    const [host, other] = [await warmHost(control), await warmHost(control)];
    await expect(
      host.send(hostOperations.heartbeat, {
        params: { hostId: other.id },
        body: { generation: 0, rssBytes: 1 },
      }),
    ).rejects.toMatchObject({ code: 'forbidden' });
  });
});
