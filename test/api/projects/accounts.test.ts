/**
 * Tests organizations, projects, members, keys and tokens: how they are created, changed, revoked and recorded in the
 * audit log.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addOwner, createOrganization, giveQuotas } from '#wire/admin-api/operations.ts';
import { basicAuthorization } from '#wire/client.ts';
import * as api from '#wire/public-api/operations.ts';
import type { MadeTokenView } from '#wire/public-api/projects/account.ts';
import { createAsker } from '../../support/control/client.ts';
import { warmHost } from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { projectIdOf, setSettings } from '../../support/control/settings.ts';

let control: OwnControl;
let ask: ReturnType<typeof createAsker>;
let owner: MadeTokenView;

beforeAll(async () => {
  control = await startNotesControl();
  ask = createAsker(control);
  const { body } = await control.admin(addOwner, {
    params: { organization: 'local' },
    body: { email: 'Owner@Example.test' },
  });
  owner = body;
});
afterAll(() => control.stop());

const bearer = (token: string) => `Bearer ${token}`;
const newEmail = () => `${randomUUID()}@example.test`;

/** Adds a member with this role and creates a token for it. */
const addMember = async (role: 'OWNER' | 'ADMIN' | 'MEMBER' | 'VIEWER' | 'NONE') => {
  const email = newEmail();
  const as = bearer(owner.token);
  const member = await ask('PUT', '/organizations/memberships', { as, body: { email, role } });
  expect(member.status).toBe(200);
  const body = { name: 'a test', email };
  const made =
    role === 'OWNER'
      ? (await control.admin(addOwner, { params: { organization: 'local' }, body: { email } })).body
      : (await ask('POST', '/organizations/tokens', { as, body })).body;
  return { ...(made as MadeTokenView), as: bearer((made as MadeTokenView).token) };
};

const newProject = async () => {
  const body = { name: `p ${randomUUID()}` };
  return (await control.account(api.createProject, { body })).body;
};

describe('members', () => {
  it('are added by e-mail address, can change role, and lose their tokens when they are removed', async () => {
    const admin = await addMember('ADMIN');
    const list = await ask('GET', '/organizations/memberships', { as: admin.as });
    expect(list.body).toMatchObject({
      memberships: expect.arrayContaining([
        { userId: owner.userId, email: 'owner@example.test', role: 'OWNER', name: 'owner' },
      ]),
    });
    const member = await addMember('MEMBER');
    const { userId } = member;
    const body = { userId, role: 'VIEWER' };
    const changed = await ask('PUT', '/organizations/memberships', { as: admin.as, body });
    expect(changed.body).toMatchObject({ userId, role: 'VIEWER' });
    const removed = await ask('DELETE', '/organizations/memberships', {
      as: admin.as,
      body: { userId },
    });
    expect(removed.body).toEqual({ userId, message: `${member.email} is removed` });
    expect(await control.sql('select from tokens where user_id = $1', [userId])).toEqual([]);
  });

  it('with the role of owner can only be changed by owners, and the last owner cannot be removed', async () => {
    const admin = await addMember('ADMIN');
    const second = await addMember('OWNER');
    const path = '/organizations/memberships';
    for (const as of [admin.as, control.accountAuthorization]) {
      const promoted = await ask('PUT', path, { as, body: { email: newEmail(), role: 'OWNER' } });
      expect(promoted).toMatchObject({ status: 403, body: { error: 'forbidden' } });
      const demoted = await ask('PUT', path, {
        as,
        body: { userId: second.userId, role: 'ADMIN' },
      });
      expect(demoted.status).toBe(403);
      const gone = await ask('DELETE', path, { as, body: { userId: second.userId } });
      expect(gone.status).toBe(403);
    }
    const as = bearer(owner.token);
    const rest = await control.sql<{ id: string }>(
      `select user_id as id from memberships where role = 'OWNER' and user_id <> $1`,
      [owner.userId],
    );
    for (const { id } of rest) {
      expect((await ask('DELETE', path, { as, body: { userId: id } })).status).toBe(200);
    }
    for (const [method, body] of [
      ['DELETE', { userId: owner.userId }],
      ['PUT', { userId: owner.userId, role: 'MEMBER' }],
    ] as const) {
      expect(await ask(method, path, { as, body })).toMatchObject({
        status: 409,
        body: { message: expect.stringContaining('is the last owner of "local"') },
      });
    }
  });

  it("have the role that a project assigns in place of the organization's role, only in that project", async () => {
    const [mine, other] = [await newProject(), await newProject()];
    const viewer = await addMember('VIEWER');
    const settings = (id: string) => ask('GET', `/projects/${id}/settings`, { as: viewer.as });
    expect((await settings(mine.id)).status).toBe(403);
    const { userId } = viewer;
    const members = `/projects/${mine.id}/memberships`;
    const as = control.accountAuthorization;
    expect((await ask('PUT', members, { as, body: { userId, role: 'ADMIN' } })).status).toBe(200);
    // A fresh token is needed because the control plane caches the permissions of a token for some seconds.
    const fresh = await freshToken(viewer.email);
    expect((await ask('GET', `/projects/${mine.id}/settings`, { as: fresh })).status).toBe(200);
    expect((await ask('GET', `/projects/${other.id}/settings`, { as: fresh })).status).toBe(403);
    expect((await ask('GET', members, { as: fresh })).body).toMatchObject({
      memberships: [{ userId, role: 'ADMIN' }],
    });
    expect((await ask('DELETE', members, { as, body: { userId } })).status).toBe(200);
  });

  it('are refused with the name of the field if the request names no user or has an invalid e-mail address', async () => {
    const as = control.accountAuthorization;
    const put = (body: object) => ask('PUT', '/organizations/memberships', { as, body });
    expect((await put({ role: 'MEMBER' })).body).toMatchObject({ error: [{ path: ['userId'] }] });
    expect((await put({ role: 'MEMBER', email: 'a b@c' })).body).toMatchObject({
      error: [{ path: ['email'], message: 'must be an e-mail address' }],
    });
    expect((await put({ role: 'MEMBER', userId: 'usr-none' })).status).toBe(404);
    expect((await put({ role: 'KING', email: newEmail() })).status).toBe(400);
  });
});

const freshToken = async (email: string): Promise<string> => {
  const body = { name: 'fresh', email };
  const as = control.accountAuthorization;
  const made = await ask('POST', '/organizations/tokens', { as, body });
  return bearer((made.body as MadeTokenView).token);
};

describe('projects', () => {
  it('are created with a slug from their name, once per idempotency key, and can be renamed', async () => {
    const name = `Blue ${randomUUID().slice(0, 8)}`;
    const headers = { 'idempotency-key': randomUUID() };
    const first = await control.account(api.createProject, { body: { name }, headers });
    const again = await control.account(api.createProject, { body: { name }, headers });
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body).toEqual(first.body);
    expect(first.body.slug).toBe(name.toLowerCase().replace(' ', '-'));
    await expect(control.account(api.createProject, { body: { name } })).rejects.toMatchObject({
      code: 'conflict',
    });
    await expect(
      control.account(api.createProject, { body: { name: 'other' }, headers }),
    ).rejects.toMatchObject({ code: 'conflict' });
    await expect(control.account(api.createProject, { body: { name: '…' } })).rejects.toMatchObject(
      {
        message: expect.stringContaining('give a "slug"'),
      },
    );
    const params = { projectId: first.body.id };
    const body = { name: 'Green', metadata: { team: 'a' } };
    const renamed = await control.account(api.updateProject, { params, body });
    expect(renamed.body).toMatchObject({ ...body, slug: first.body.slug });
    const large = { metadata: { text: 'x'.repeat(20_000) } };
    await expect(control.account(api.updateProject, { params, body: large })).rejects.toMatchObject(
      {
        code: 'invalid',
      },
    );
  });

  it('are deleted with their worlds and keys, but not while a session is open', async () => {
    const project = await newProject();
    const params = { projectId: project.id };
    const key = (await control.account(api.createProjectKey, { params, body: {} })).body;
    const as = basicAuthorization(key.publicKey, key.secretKey);
    const world = { slug: 'mine', from: 'code-hosting' };
    expect((await ask('POST', '/worlds', { as, body: world })).status).toBe(201);
    await warmHost(control);
    const opened = await ask('POST', '/world-sessions', { as, body: { slug: 'mine' } });
    const { id } = opened.body as { id: string };
    await expect(control.account(api.deleteProject, { params })).rejects.toMatchObject({
      code: 'conflict',
      detail: { sessions: [id] },
    });
    await control.sql(
      `update sessions set state = 'CLOSED', end_reason = 'requested', closed_at = now() where id = $1`,
      [id],
    );
    const gone = await control.account(api.deleteProject, { params });
    expect(gone).toMatchObject({
      status: 202,
      body: { message: expect.stringContaining('1 worlds') },
    });
    await expect(control.account(api.deleteProject, { params })).rejects.toMatchObject({
      code: 'not_found',
    });
    // The control plane still caches the key for some seconds. The worlds are gone by then, and none can be created.
    expect((await ask('GET', '/worlds/mine', { as })).status).toBe(404);
    expect((await ask('POST', '/worlds', { as, body: world })).status).toBeGreaterThanOrEqual(400);
    expect(
      await control.sql('select from worlds where project_id = $1 and deleted_at is null', [
        project.id,
      ]),
    ).toEqual([]);
    const again = await control.account(api.createProject, {
      body: { name: 'again', slug: project.slug },
    });
    expect(again.status).toBe(201);
  });
});

describe('key pairs', () => {
  it('are created with a secret that is shown once, are listed without it, and can be revoked', async () => {
    const params = { projectId: (await newProject()).id };
    const headers = { 'idempotency-key': randomUUID() };
    const body = { note: 'for the pipeline' };
    const { body: made } = await control.account(api.createProjectKey, { params, body, headers });
    expect(made).toMatchObject({
      publicKey: expect.stringMatching(/^pk-/),
      secretKey: expect.stringMatching(/^sk-/),
      displaySecretKey: `sk-...${made.secretKey.slice(-4)}`,
      note: 'for the pipeline',
    });
    await expect(
      control.account(api.createProjectKey, { params, body, headers }),
    ).rejects.toMatchObject({ code: 'conflict', detail: { id: made.id } });
    const { body: list } = await control.account(api.listProjectKeys, { params });
    expect(list.apiKeys).toMatchObject([{ id: made.id, publicKey: made.publicKey }]);
    expect(JSON.stringify(list)).not.toContain(made.secretKey);
    const as = basicAuthorization(made.publicKey, made.secretKey);
    expect((await ask('GET', '/environments', { as })).status).toBe(200);
    const revoke = { params: { ...params, apiKeyId: made.id } };
    await control.account(api.revokeProjectKey, revoke);
    await expect(control.account(api.revokeProjectKey, revoke)).rejects.toMatchObject({
      code: 'not_found',
    });
    expect((await control.account(api.listProjectKeys, { params })).body.apiKeys).toEqual([]);
  });

  it('of another project or organization are not found', async () => {
    const mine = (await newProject()).id;
    const theirs = (await newProject()).id;
    const key = await control.account(api.createProjectKey, {
      params: { projectId: theirs },
      body: {},
    });
    const params = { projectId: mine, apiKeyId: key.body.id };
    await expect(control.account(api.revokeProjectKey, { params })).rejects.toMatchObject({
      code: 'not_found',
    });
    const slug = `org-${randomUUID().slice(0, 8)}`;
    const { body: made } = await control.admin(createOrganization, { body: { slug } });
    const as = basicAuthorization(made.apiKey.publicKey, made.apiKey.secretKey);
    expect((await ask('GET', `/projects/${mine}/apiKeys`, { as })).status).toBe(404);
    expect((await ask('GET', '/projects', { as })).body).toEqual({ data: [] });
  });
});

describe('personal access tokens', () => {
  it('are shown once, are stored as hashes, and are listed with their e-mail address and scopes', async () => {
    const member = await addMember('MEMBER');
    const list = await ask('GET', '/organizations/tokens', { as: member.as });
    expect(list.body).toMatchObject({
      data: [{ id: member.id, email: member.email, scopes: ['mcp:read', 'mcp:write', 'accounts'] }],
    });
    expect(JSON.stringify(list.body)).not.toContain(member.token);
    const rows = await control.sql<{ text: string }>('select t::text as text from tokens t');
    expect(rows.some(({ text }) => text.includes(member.token.slice(4)))).toBe(false);
  });

  it('cannot create a token with more scopes or projects than their own', async () => {
    const member = await addMember('MEMBER');
    const project = await newProject();
    const narrow = await ask('POST', '/organizations/tokens', {
      as: member.as,
      body: { name: 'narrow', scopes: ['accounts', 'mcp:read'], projectIds: [project.id] },
    });
    expect(narrow.status).toBe(201);
    const as = bearer((narrow.body as MadeTokenView).token);
    const make = (body: object) => ask('POST', '/organizations/tokens', { as, body });
    const same = await make({ name: 'same' });
    expect(same.body).toMatchObject({ scopes: ['accounts', 'mcp:read'], projectIds: [project.id] });
    expect((await make({ name: 'wide', scopes: ['mcp:write'] })).status).toBe(403);
    const elsewhere = { name: 'wide', projectIds: [(await newProject()).id] };
    expect((await make(elsewhere)).status).toBe(403);
  });

  it('can be created for members by admins, and for owners only by owners themselves', async () => {
    const [admin, member] = [await addMember('ADMIN'), await addMember('MEMBER')];
    const make = (as: string, email: string) =>
      ask('POST', '/organizations/tokens', { as, body: { name: 'x', email } });
    expect((await make(admin.as, member.email)).status).toBe(201);
    expect((await make(admin.as, owner.email)).status).toBe(403);
    expect((await make(control.accountAuthorization, owner.email)).status).toBe(403);
    expect((await make(member.as, admin.email)).status).toBe(403);
    const all = (as: string) => ask('GET', '/organizations/tokens?all=true', { as });
    expect([(await all(admin.as)).status, (await all(member.as)).status]).toEqual([200, 403]);
    const revoke = (as: string, id: string) => ask('DELETE', `/organizations/tokens/${id}`, { as });
    expect((await revoke(member.as, admin.id)).status).toBe(404);
    expect((await revoke(admin.as, member.id)).status).toBe(200);
  });

  it('reach only the projects where their user has a role', async () => {
    const viewer = await addMember('VIEWER');
    const reached = async (as: string) =>
      ((await ask('GET', '/projects', { as })).body as { data: { id: string }[] }).data;
    expect((await reached(viewer.as)).length).toBeGreaterThan(1);
    const none = await addMember('NONE');
    expect(await reached(none.as)).toEqual([]);
  });
});

describe('settings of a project', () => {
  it('override the defaults of the installation, within the quotas that the operator sets', async () => {
    const params = { projectId: await projectIdOf(control) };
    const before = (await control.account(api.getSettings, { params })).body;
    expect(before).toMatchObject({
      browserTier: 'standard',
      gate: { threshold: 0.7, floor: 30 },
      rateLimit: null,
      eventsPerMonth: null,
      set: [],
    });
    const after = await setSettings(control, {
      browserTier: 'premium',
      gate: { threshold: 0.9 },
      quotas: { sessions: 7 },
    });
    expect(after).toMatchObject({
      browserTier: 'premium',
      gate: { threshold: 0.9, floor: 30 },
      quotas: { sessions: 7 },
      set: ['browserTier', 'gate.threshold', 'quotas.sessions'],
    });
    await expect(
      setSettings(control, { quotas: { sessions: before.quotas.sessions + 1 } }),
    ).rejects.toMatchObject({ fields: [{ path: ['quotas', 'sessions'] }] });
    const given = await control.admin(giveQuotas, {
      params: { organization: 'local', project: 'default' },
      body: { quotas: { sessions: before.quotas.sessions + 1 } },
    });
    expect(given.body.quotas.sessions).toBe(before.quotas.sessions + 1);
    const reset = { browserTier: null, gate: { threshold: null }, quotas: { sessions: null } };
    expect(await setSettings(control, reset)).toEqual(before);
  });

  it('set the browser tier of sessions that name none', async () => {
    await control.account(api.updateOrganization, { body: { browserTier: 'premium' } });
    const tier = async () => (await control.send(api.getProjectSettings, {})).body.browserTier;
    expect(await tier()).toBe('premium');
    await setSettings(control, { browserTier: 'standard' });
    expect(await tier()).toBe('standard');
    await control.account(api.updateOrganization, { body: { browserTier: null } });
    await setSettings(control, { browserTier: null });
  });
});

describe('the audit log', () => {
  it('lists every change with its actor, newest first, by page, without secrets', async () => {
    const project = await newProject();
    const params = { projectId: project.id };
    const { body: key } = await control.account(api.createProjectKey, { params, body: {} });
    await control.account(api.updateSettings, { params, body: { gate: { floor: 5 } } });
    const query = { projectId: project.id, limit: 2 };
    const first = (await control.account(api.listAuditLog, { query })).body;
    expect(first.data.map(({ action }) => action)).toEqual(['settings.change', 'key.create']);
    expect(first.data[0]).toMatchObject({
      actor: { kind: 'organization_key' },
      before: { gate: { floor: 30 } },
      after: { gate: { floor: 5 } },
    });
    const cursor = first.meta.nextCursor ?? '';
    const rest = (await control.account(api.listAuditLog, { query: { ...query, cursor } })).body;
    expect(rest.data.map(({ action }) => action)).toEqual(['project.create']);
    expect(rest.meta.nextCursor).toBeUndefined();
    const all = await control.sql<{ text: string }>('select a::text as text from audit_entries a');
    for (const secret of [key.secretKey, owner.token])
      expect(all.some(({ text }) => text.includes(secret))).toBe(false);
    await expect(
      control.account(api.listAuditLog, { query: { cursor: 'eA' } }),
    ).rejects.toMatchObject({ code: 'invalid' });
  });
});

describe('an organization', () => {
  it('is created by an operator with a key and an owner, and only its owner deletes it, once it has no projects', async () => {
    const slug = `org-${randomUUID().slice(0, 8)}`;
    const { body: made } = await control.admin(createOrganization, {
      body: { slug, owner: 'a@example.test' },
    });
    await expect(control.admin(createOrganization, { body: { slug } })).rejects.toMatchObject({
      code: 'conflict',
    });
    const key = basicAuthorization(made.apiKey.publicKey, made.apiKey.secretKey);
    const as = bearer(made.token?.token ?? '');
    const project = await ask('POST', '/projects', { as: key, body: { name: 'one' } });
    const end = (organizationId: string, by = as) =>
      ask('DELETE', '/organizations', { as: by, body: { organizationId } });
    expect((await end(made.organization.id, key)).status).toBe(403);
    expect((await end(made.organization.id)).body).toMatchObject({ error: 'conflict' });
    const { id } = project.body as { id: string };
    expect((await ask('DELETE', `/projects/${id}`, { as })).status).toBe(202);
    expect((await end('org-none')).status).toBe(409);
    expect((await end(made.organization.id)).status).toBe(200);
    expect((await control.admin(createOrganization, { body: { slug } })).status).toBe(201);
  });
});
