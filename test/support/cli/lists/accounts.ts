/** Cases of lists that `svc` prints: of accounts, of an installation, and of the contents of a project. */
import * as accounts from '../../../../src/cli/views/accounts.ts';
import * as admin from '../../../../src/cli/views/admin.ts';
import * as contexts from '../../../../src/cli/views/context.ts';
import * as files from '../../../../src/cli/views/files.ts';
import { at, email, entry, idOf, key, type ListCase, list, name, type Of, text } from './values.ts';

/** Cases by name of the list. */
export const accountsLists: Readonly<Record<string, ListCase>> = {
  organizations: [
    name,
    list(accounts.describeOrganizations, {
      ...{ slug: name, name: text, projects: 12, members: 1_200, id: idOf('org') },
    }),
  ],
  projects: [
    'customer-support',
    list(accounts.describeProjects, {
      ...{ slug: 'customer-support', name: text, organization: { name: text }, id: idOf('prj') },
    }),
  ],
  members: [
    email,
    (view) =>
      accounts.describeMembers(
        [entry({ email, role: 'MEMBER', name: text, userId: idOf('usr') })],
        'none',
        view,
      ),
  ],
  keys: [
    idOf('key'),
    list(accounts.describeKeys, {
      ...{ id: idOf('key'), publicKey: key, displaySecretKey: 'sk-...S1pA', note: text },
      lastUsedAt: at,
    }),
  ],
  tokens: [
    idOf('pat'),
    list(accounts.describeTokens, {
      ...{ id: idOf('pat'), email, name: text, scopes: ['mcp:read', 'mcp:write', 'accounts'] },
      ...{ projectIds: [idOf('prj')], expiresAt: at, lastUsedAt: null },
    }),
  ],
  'the audit log': [
    at,
    list(accounts.describeAudit, {
      ...{ at, actor: { name: key }, action: 'organization_key.create', subject: idOf('key') },
      ...{ before: { note: text }, after: { note: name } },
    }),
  ],
  pools: [
    'browsers-of-the-north',
    (view) => {
      const hosts = { starting: 1, warm: 3, assigned: 4, recycling: 0, draining: 0 };
      const pool = {
        ...{ installation: 'default', name: 'browsers-of-the-north', tier: 'premium' },
        ...{ isolation: 'container', size: 'large:browser', target: 2, maximum: 1_000, fresh: 2 },
        ...{ hosts, worlds: [], unknownWorlds: [], held: text, isLed: false },
      };
      const pools = [pool] as unknown as Of<typeof admin.describePools>['pools'];
      return admin.describePools({ pools, waitingSessions: 3, longestWaitMs: 9_000 }, view);
    },
  ],
  'world hosts': [
    idOf('hst'),
    (view) => {
      const host = {
        ...{ id: idOf('hst'), pool: 'browsers', state: 'gone', stateAgeMs: 4_000, ageMs: 9e7 },
        ...{ silentMs: 12, rssBytes: 2 ** 30, uses: 12, sessionId: idOf('ses') },
        ...{ world: 'acme/customer-support/clinic-of-the-north', versionNumber: 12 },
        ...{ endReason: 'killed', endDetail: text },
      };
      return admin.describeHosts({ hosts: [entry(host)], total: 9 }, view);
    },
  ],
  imports: [
    idOf('bat'),
    (view) => {
      const job = {
        ...{ id: idOf('bat'), world: 'acme/customer-support/clinic', kind: 'import', ageMs: 9e7 },
        ...{ state: 'validating', chunks: 1_200, validatedChunks: 12, rows: 1e6, appliedRows: 0 },
        ...{ attempts: 2, leaseMs: -1 },
      };
      return admin.describeImports({ imports: [entry(job)], total: 1 }, view);
    },
  ],
  'deleted worlds': [
    'acme/customer-support',
    (view) =>
      admin.describeCollection(
        entry({
          ...{ blobs: 12, bytes: 1e9, isLowerBound: true, graceMinutes: 60, totalWorlds: 2 },
          place: 'the bucket acme-simulated-worlds-of-the-north',
          worlds: [{ world: `acme/customer-support/${name}`, deletedAt: at, keptUntil: at }],
        }),
        view,
      ),
  ],
  'context repositories': [
    name,
    list(contexts.listRepos, {
      ...{ identifier: name, latestVersion: 12, updatedAt: at, tags: ['support', 'reviewed'] },
      labels: { production: 11, 'candidate-of-the-week': 12 },
    }),
  ],
  prompts: [
    name,
    list(contexts.listPrompts, {
      ...{ name, type: 'chat', versions: [1, 2], labels: ['production', 'candidate-of-the-week'] },
      ...{ tags: ['support', 'reviewed-by-legal'], lastUpdatedAt: at },
    }),
  ],
  'files of a folder': [
    'invoices-of-the-second-quarter',
    (view) => {
      const file = {
        ...{ name: 'invoices-of-the-second-quarter.docx', sizeBytes: 9_000_000, updatedAt: at },
        contentType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      };
      const folder = { name, files: 12, updatedAt: at };
      return files.listFolder(entry({ folders: [folder], files: [file] }), view);
    },
  ],
  'file connectors': [
    name,
    list(files.listConnectors, {
      ...{ name, direction: 'pull', targetPrefix: 'reports/of/the/year', lastSyncAt: at },
      ...{ location: `s3://acme-reports/north at https://s3.example.com`, lastStatus: 'partial' },
    }),
  ],
};
