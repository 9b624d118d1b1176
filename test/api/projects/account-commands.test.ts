/** Tests `svc orgs|projects|keys|tokens|settings` as an account manager types them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDesk, type Desk } from '../../support/cli/commands-on-control.ts';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';

let control: OwnControl;
let desk: Desk;

beforeAll(async () => {
  control = await startOwnControl();
  desk = createDesk(control);
});
afterAll(async () => {
  desk.clear();
  await control.stop();
});

const run = async (words: string): Promise<string> => {
  const { status, out, err } = await desk.svc(words);
  expect({ words, status, err }).toEqual({ words, status: 0, err: '' });
  return out;
};
const fail = async (words: string): Promise<string> => {
  const { status, err } = await desk.svc(words);
  expect({ words, status }).toEqual({ words, status: 1 });
  return err;
};

describe('svc orgs', () => {
  it('creates an owner as the operator, shows and renames the organization, and lists the audit log', async () => {
    const owner = await run('orgs owners add ada@example.test');
    expect(owner).toMatch(
      /^pat-\S+ of ada@example.test was created, valid until \S+; it is shown only now:\n {2}SVC_API_TOKEN=pat_\S{43}\n$/,
    );
    expect(await run('orgs set --name Locals')).toContain('name          Locals');
    expect(await run('orgs show')).toContain('organization  local');
    const [head, ...lines] = (await run('orgs audit --limit 3')).trimEnd().split('\n');
    expect(head).toMatch(/^WHEN +WHO +WHAT +OF +CHANGE$/);
    expect(lines.join('\n')).toMatch(/organization.change .*name local → Locals\n.*token.create/);
    expect(lines.at(-1)).toMatch(/^--cursor \S+ shows the next page$/);
    expect(await run('orgs list')).toMatch(/local +Locals +1 +1 +org-/);
  });

  it('adds, changes and removes members', async () => {
    await run('orgs members add bo@example.test --role viewer');
    expect(await run('orgs members add bo@example.test --role member')).toBe(
      'bo@example.test is member\n',
    );
    expect(await run('orgs members list')).toMatch(/bo@example.test +member +bo +usr-/);
    expect(await fail('orgs members add bo@example.test --role king')).toContain(
      'The role is none of owner, admin, member, viewer, none.',
    );
    expect(await fail('orgs members add cy@example.test --role owner')).toContain(
      'svc orgs owners add',
    );
    expect(await run('orgs members remove bo@example.test')).toBe('bo@example.test is removed\n');
    expect(await fail('orgs members remove bo@example.test')).toContain('has no member');
  });

  it('creates a second organization with a key and an owner', async () => {
    const made = await run('orgs create acme --owner eve@acme.test');
    expect(made).toMatch(/SVC_ORGANIZATION_SECRET_KEY=sk-/);
    expect(made).toMatch(/pat-\S+ of eve@acme.test/);
    expect(await fail('orgs create acme')).toContain('there is an organization "acme" already');
  });
});

describe('svc projects, keys, tokens and settings', () => {
  it('create a second project, and key pairs for each project', async () => {
    await run('projects create Shop');
    expect(await run('projects list')).toMatch(/default +default +\S+ +prj-\S+\nshop +Shop/);
    expect(await fail('keys list')).toContain('name a project with --project: default, shop');
    const made = JSON.parse(await run('keys create --project shop --note nightly --json')) as {
      id: string;
      secretKey: string;
    };
    const list = await run('keys list --project shop');
    expect(list).toMatch(
      new RegExp(`${made.id} +pk-\\S+ +sk-\\.\\.\\.${made.secretKey.slice(-4)} +nightly +never`),
    );
    expect(await run(`keys revoke ${made.id} --project shop`)).toContain(
      'it stops working within 5 s',
    );
    const named = JSON.parse(await run('keys create --project shop --json'));
    expect(await run(`keys revoke ${named.publicKey} --project shop`)).toContain('is revoked');
    expect(await run('keys list --project shop')).not.toContain(named.id);
    expect(await run('keys list --project shop')).toBe('there are no key pairs\n');
    expect(await run('keys create --org')).toContain('SVC_ORGANIZATION_PUBLIC_KEY=pk-');
    await run('projects rename shop Store');
    expect(await fail('projects delete shop')).toContain('add --yes to do it');
    expect(await run('projects delete shop --yes')).toContain('"shop" is deleted, with 0 worlds');
    expect(await fail('projects delete shop --yes')).toContain(
      'there is no project "shop": default',
    );
  });

  it('create, list and revoke tokens of members', async () => {
    await run('orgs members add di@example.test --role member');
    const made = await run(
      'tokens create laptop --for di@example.test --scope mcp:read --days 7 --project default',
    );
    const [id = ''] = made.split(' ');
    expect(await run('tokens list')).toMatch(
      new RegExp(`${id} +di@example.test +laptop +mcp:read +1 project`),
    );
    expect(await run(`tokens revoke ${id}`)).toContain('is revoked');
    expect(await fail('tokens create x --for di@example.test --scope all')).toContain(
      'it is none of',
    );
    expect(await fail('tokens create x')).toContain('name the owner of the token with --for');
  });

  it('show and change settings, and refuse unknown names and invalid values', async () => {
    expect(await run('settings show')).toMatch(
      /^webhook-push +off\nsession-traces +on\nbrowser-tier +standard\n/,
    );
    const set = 'settings set --webhook-push on --gate-floor 5 --quota sessions=9';
    expect(await run(set)).toMatch(
      /gate-floor +5 {2}\(set by the project\).*quota sessions +9 {2}\(set/s,
    );
    expect(await run('projects settings set --gate-floor default --webhook-push off')).toMatch(
      /gate-floor +30\n/,
    );
    expect(await run('orgs audit --limit 2')).toMatch(
      /webhookPush false → true, .*gate.floor 30 → 5/,
    );
    expect(await fail('settings set')).toContain('name a setting');
    expect(await fail('settings set --quota rooms=9')).toContain('it is none of sessions,');
    expect(await fail('settings set --quota sessions=0')).toContain('not a whole number');
    expect(await fail('settings set --quota sessions=99999')).toContain(
      'the limit of the installation',
    );
    const given = await run('admin quotas local/default --quota sessions=99999 --rate-limit 50');
    expect(given).toMatch(/quota sessions +99999 {2}\(set by the project\)/);
    expect(await run('settings show')).toMatch(/rate-limit +50 requests a minute/);
    await run('admin quotas local/default --quota sessions=default --rate-limit default');
    expect(await fail('admin quotas default --quota sessions=1')).toContain(
      'is not organization/project',
    );
    expect(await fail('admin quotas local/none --quota sessions=1')).toContain('"local/none"');
  });
});
