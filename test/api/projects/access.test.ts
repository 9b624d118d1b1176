/**
 * Tests which credential may call which route: keys of projects and organizations, and tokens of users, hosts and
 * pools. The expectation for each public route comes from its own declaration, so new routes are covered, too.
 */

import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mayDo, type Role } from '#domain/account.ts';
import {
  type AccessRule,
  accessRules,
  type CredentialKind,
  isPublicAccess,
  type PublicAccess,
} from '#wire/access.ts';
import { addOwner, createOrganization } from '#wire/admin-api/operations.ts';
import { basicAuthorization } from '#wire/client.ts';
import * as hostOperations from '#wire/host-api/operations.ts';
import { type OperationShape, operationsOf } from '#wire/operation.ts';
import * as poolOperations from '#wire/pool-api/operations.ts';
import * as publicOperations from '#wire/public-api/operations.ts';
import type { MadeKeyView, MadeTokenView } from '#wire/public-api/projects/account.ts';
import { createAsker } from '../../support/control/client.ts';
import { warmHost } from '../../support/control/host.ts';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';
import { projectIdOf } from '../../support/control/settings.ts';

let control: OwnControl;

beforeAll(async () => {
  control = await startOwnControl();
});

afterAll(() => control.stop());

const operations = operationsOf(publicOperations);

/** Credential that a caller sends, with its kind and its project. */
type Caller = { as: string | undefined; kind?: CredentialKind; projectId?: string };

/** Project ids and callers that all tests of this file share. */
type Cast = {
  callers: Record<string, Caller>;
  ids: { mine: string; other: string; foreign: string };
};

let cast: Cast;

const bearer = (token: string): string => `Bearer ${token}`;

const makeCast = async (): Promise<Cast> => {
  const ask = createAsker(control);
  const as = control.accountAuthorization;
  const made = async <Body>(method: string, path: string, body: object, by = as): Promise<Body> => {
    const answer = await ask(method, path, { as: by, body });
    expect({ path, status: answer.status }).toMatchObject({
      status: expect.toSatisfy((status) => status < 300),
    });
    return answer.body as Body;
  };
  const mine = await projectIdOf(control);
  const other = (await made<{ id: string }>('POST', '/projects', { name: 'other' })).id;
  const foreign = (
    await control.admin(createOrganization, { body: { slug: 'foreign', owner: 'o@foreign.test' } })
  ).body;
  const foreignKey = basicAuthorization(foreign.apiKey.publicKey, foreign.apiKey.secretKey);
  const theirs = (await made<{ id: string }>('POST', '/projects', { name: 'theirs' }, foreignKey))
    .id;
  const keyOf = async (projectId: string, by = as) => {
    const key = await made<MadeKeyView>('POST', `/projects/${projectId}/apiKeys`, {}, by);
    return { key, basic: basicAuthorization(key.publicKey, key.secretKey) };
  };
  const tokenOf = async (email: string, parts: object = {}) =>
    made<MadeTokenView>('POST', '/organizations/tokens', { name: 'x', email, ...parts });
  const member = async (role: string, parts: object = {}): Promise<Caller> => {
    const email = `${role.toLowerCase()}-${randomUUID()}@example.test`;
    await made('PUT', '/organizations/memberships', { email, role });
    return { as: bearer((await tokenOf(email, parts)).token), kind: 'token' };
  };
  const owner = await control.admin(addOwner, {
    params: { organization: 'local' },
    body: { email: 'owner@example.test' },
  });
  const [otherKey, gone, foreignProjectKey] = [
    await keyOf(other),
    await keyOf(mine),
    await keyOf(theirs, foreignKey),
  ];
  await ask('DELETE', `/projects/${mine}/apiKeys/${gone.key.id}`, { as });
  const revoked = await member('ADMIN');
  await control.sql('update tokens set revoked_at = now() where token_hash = $1', [
    hash(revoked.as),
  ]);
  const expired = await member('ADMIN');
  await control.sql(`update tokens set expires_at = now() where token_hash = $1`, [
    hash(expired.as),
  ]);
  const { publicKey, secretKey } = control;
  return {
    ids: { mine, other, foreign: theirs },
    callers: {
      nothing: { as: undefined },
      'a wrong secret': { as: basicAuthorization(publicKey, 'sk-wrong') },
      'no secret': { as: basicAuthorization(publicKey, '') },
      'an unknown public key': { as: basicAuthorization('pk-none', secretKey) },
      'an unknown bearer': { as: 'Bearer pk-none' },
      'the secret key as bearer': { as: bearer(secretKey) },
      'another scheme': { as: `Digest ${publicKey}` },
      rubbish: { as: 'Basic %%%' },
      'a revoked key': { as: gone.basic },
      'a revoked token': { as: revoked.as },
      'an expired token': { as: expired.as },
      'an unknown token': { as: `Bearer pat_${'A'.repeat(43)}` },
      "an organization's public key": { as: `Bearer ${publicOf(control.accountAuthorization)}` },
      'the key pair': { as: basicAuthorization(publicKey, secretKey), kind: 'keyPair' },
      'the public key': { as: bearer(publicKey), kind: 'publicKey' },
      'the key pair of another project': { as: otherKey.basic, kind: 'keyPair' },
      'the key pair of another organization': { as: foreignProjectKey.basic, kind: 'keyPair' },
      "the organization's key": { as, kind: 'organizationKey' },
      "another organization's key": { as: foreignKey, kind: 'organizationKey' },
      "an owner's token": { as: bearer(owner.body.token), kind: 'token' },
      "an admin's token": await member('ADMIN'),
      "a member's token": await member('MEMBER'),
      "a viewer's token": await member('VIEWER'),
      'a token without a role': await member('NONE'),
      'a token of another project': await member('ADMIN', { projectIds: [other] }),
      'a token without scopes for this': await member('ADMIN', { scopes: ['mcp:write'] }),
      "another organization's token": { as: bearer(foreign.token?.token ?? ''), kind: 'token' },
    },
  };
};

const hash = (authorization: string | undefined): Buffer =>
  createHash('sha256')
    .update((authorization ?? '').replace('Bearer ', ''))
    .digest();

const publicOf = (authorization: string): string =>
  Buffer.from(authorization.replace('Basic ', ''), 'base64').toString().split(':')[0] ?? '';

/** The role of the caller's user in the organization, by the caller's name. */
const roleOf: Record<string, Role> = {
  "an owner's token": 'OWNER',
  "an admin's token": 'ADMIN',
  "a member's token": 'MEMBER',
  "a viewer's token": 'VIEWER',
  'a token without a role': 'NONE',
  'a token of another project': 'ADMIN',
  'a token without scopes for this': 'ADMIN',
  "another organization's token": 'OWNER',
};
/** Callers of another organization: they have no access to the project that the requests name. */
const strangers = ["another organization's token", "another organization's key"];

/** Returns the status with which an access rule refuses a token, or null if the rule admits the token. */
const refusalOfToken = (name: string, rule: AccessRule['token']): 401 | 403 | 404 | null => {
  if (typeof rule === 'number') return rule;
  const role = roleOf[name] ?? 'NONE';
  if (name === 'a token without scopes for this' && rule.scope !== null) return 403;
  if (rule.where === 'organization') return mayDo(role, rule.deed) ? null : 403;
  const reachesNone = name === 'a token of another project' || strangers.includes(name);
  if (reachesNone || role === 'NONE') return 404;
  return mayDo(role, rule.deed) ? null : 403;
};

/**
 * Returns the status with which a caller is refused before the operation reads its input, or null if the caller is
 * admitted.
 */
const refusalOf = (
  name: string,
  { kind }: Caller,
  access: PublicAccess,
): 401 | 403 | 404 | null => {
  if (kind === undefined) return 401;
  const rule: AccessRule = accessRules[access];
  if (kind === 'token') return refusalOfToken(name, rule.token);
  if (rule[kind] !== 'taken') return rule[kind];
  return kind === 'organizationKey' && access === 'project' && strangers.includes(name)
    ? 404
    : null;
};

/**
 * Sends an operation without a body. Every path argument except the project is `none`, which is the id of no object.
 */
const send = (operation: OperationShape, authorization: string | undefined, projectId = 'none') => {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name) =>
    name === 'projectId' ? projectId : 'none',
  );
  const query = operation.access === 'mcp' ? `?project_id=${projectId}` : '';
  // Without a body, operations that create or change something are refused, and no project is deleted.
  return control.raw({
    method: operation.method,
    path: `/api/public${path}${query}`,
    headers: authorization === undefined ? {} : { authorization },
  });
};

const errorNames = { 401: 'unauthenticated', 403: 'forbidden', 404: 'not_found' } as const;

/** These operations succeed without a body, so they are not sent for callers that have access to them. */
const unsent = ['deleteProject', 'createProjectKey', 'createOrganizationKey'];

describe('every public route', () => {
  beforeAll(async () => {
    cast = await makeCast();
  });

  it('declares an access level that the table of access rules contains', () => {
    expect(operations.length).toBeGreaterThan(80);
    const odd = operations.filter(({ access }) => !isPublicAccess(access));
    expect(odd).toEqual([]);
  });

  it('is in the OpenAPI document, which lists no other operation', async () => {
    const { body } = await control.raw({ method: 'GET', path: '/api/public/openapi.json' });
    const served = Object.values(
      (body as { paths: Record<string, Record<string, { operationId: string }>> }).paths,
    )
      .flatMap((methods) => Object.values(methods))
      .map(({ operationId }) => operationId);
    expect(served.sort()).toEqual(operations.map(({ id }) => id).sort());
  });

  it.each(operations.map((operation) => [operation.id, operation] as const))(
    '%s answers each caller with the status that its access rule demands',
    async (_, operation) => {
      const access = operation.access as PublicAccess;
      const wrong: unknown[] = [];
      for (const [name, caller] of Object.entries(cast.callers)) {
        const expected = refusalOf(name, caller, access);
        if (expected === null && unsent.includes(operation.id)) continue;
        const { status, headers, body } = await send(operation, caller.as, cast.ids.mine);
        const isRefused =
          expected !== null &&
          status === expected &&
          (body as { error: unknown }).error === errorNames[expected];
        const isReached = expected === null && [200, 400, 404, 409].includes(status);
        const isTold =
          status !== 401 || String(headers['www-authenticate']).startsWith('Basic realm=');
        if (!(isRefused || isReached) || !isTold) wrong.push({ name, expected, status, body });
      }
      expect(wrong).toEqual([]);
    },
  );

  it('answers 403 or 404 to another organization, whichever project its path names', async () => {
    for (const operation of operations.filter(({ path }) => path.includes('{projectId}'))) {
      for (const name of strangers) {
        const { status } = await send(operation, cast.callers[name]?.as, cast.ids.mine);
        expect([operation.id, name, [403, 404].includes(status)]).toEqual([
          operation.id,
          name,
          true,
        ]);
      }
    }
  });
});

describe('keys of other kinds and projects', () => {
  const addKey = async (publicKey: string, projectId: string | null): Promise<void> => {
    await control.sql(
      `insert into keys (id, organization_id, project_id, public_key, secret_hash)
       select $1, id, $2, $1, $3 from organizations where slug = 'local'`,
      [publicKey, projectId, createHash('sha256').update('sk-secret').digest()],
    );
  };

  it('get 401 if they belong to an organization, as Basic and as Bearer credentials', async () => {
    await addKey('pk-organization', null);
    for (const authorization of [
      basicAuthorization('pk-organization', 'sk-secret'),
      'Bearer pk-organization',
    ]) {
      const answer = await send(publicOperations.listWorlds, authorization);
      expect(answer.status).toBe(401);
    }
  });

  it('get 401 if they were revoked before they were used', async () => {
    const [project] = await control.sql<{ id: string }>(
      `select id from projects where slug = 'default'`,
    );
    await addKey('pk-revoked', project?.id ?? null);
    await control.sql(`update keys set revoked_at = now() where public_key = 'pk-revoked'`);
    const answer = await send(
      publicOperations.listWorlds,
      basicAuthorization('pk-revoked', 'sk-secret'),
    );
    expect(answer.status).toBe(401);
  });

  it('do not reach worlds and sessions of another project', async () => {
    await control.sql(
      `insert into projects (id, organization_id, slug, name)
       select 'prj-other', id, 'prj-other', 'other' from organizations where slug = 'local'`,
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

  it('are stored only as hashes', async () => {
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
    'refuse the key pair of a project for %s',
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

  it('let a host report only for itself', async () => {
    const [host, other] = [await warmHost(control), await warmHost(control)];
    await expect(
      host.send(hostOperations.heartbeat, {
        params: { hostId: other.id },
        body: { generation: 0, rssBytes: 1 },
      }),
    ).rejects.toMatchObject({ code: 'forbidden' });
  });
});
