/** Lists of worlds, of their sessions, and of an organization's objects. */

import { encodeTree, notesWorld } from '../../worlds/worlds.ts';
import { clearPool, type PlayedHost, warmHost } from '../host.ts';
import { changed, pushFiles } from '../pushes.ts';
import { type Listed, type Lists, query, type Stage, sharedTime } from './listed.ts';

const slugOf = (list: string): string => list.split('/')[2]?.split('?')[0] ?? '';

const makeWorld = ({ ask }: Stage, slug: string) =>
  ask('POST', '/worlds', { slug, from: encodeTree(notesWorld()) });

const treeOf = (number: number) => changed(notesWorld(), { 'own.md': `${number}` });

/** Returns the list of a world's versions at a path; versions and bundles are the same objects. */
const versionsAt = (stage: Stage, pathOf: (world: { id: string; slug: string }) => string) => {
  const heads = new Map<string, number>();
  return {
    async open(name) {
      const { id } = await makeWorld(stage, name);
      const list = pathOf({ id, slug: name });
      heads.set(list, 1);
      return list;
    },
    async add(list, number) {
      const base = heads.get(list) ?? 1;
      const body = { base, files: pushFiles(treeOf(number)) };
      heads.set(list, base + 1);
      return (await stage.ask('POST', list, body)).id;
    },
  } satisfies Listed;
};

const listsOfWorlds = (stage: Stage): Lists => {
  const { ask } = stage;
  return {
    listWorlds: {
      open: async () => '/environments',
      async add(_, number) {
        await makeWorld(stage, `walked-${number}`);
        return `walked-${number}`;
      },
      idOf: ({ slug }) => String(slug),
    },
    listVersions: versionsAt(stage, ({ slug }) => `/worlds/${slug}/versions`),
    listBundles: versionsAt(stage, ({ id }) => `/benchmark-containers/${id}/bundles`),
    listTestRuns: {
      async open(name) {
        await makeWorld(stage, name);
        return `/worlds/${name}/tests`;
      },
      add: async (list) => String((await ask('POST', list, { wait: false })).runId),
      idOf: ({ runId }) => String(runId),
    },
    listBatches: {
      async open(name) {
        await makeWorld(stage, name);
        return `/worlds/${name}/data/batches`;
      },
      add: async (list) => String((await ask('POST', list, {})).batchId),
      idOf: ({ batchId }) => String(batchId),
    },
    readData: {
      async open(name) {
        await makeWorld(stage, name);
        return `/worlds/${name}/data?entity=notes`;
      },
      async add(list, number) {
        const row = { id: number, folder_id: 1, title: `n${number}`, done: false };
        await ask('POST', `/worlds/${slugOf(list)}/data/import`, { rows: { notes: [row] } });
        return String(number);
      },
      rowsOf: ({ rows }) => rows as never,
      idOf: ({ id }) => String(id),
      // Each row is a version of its own, which takes some seconds.
      walks: 1,
    },
    listConnectors: {
      open: async () => '/connectors',
      async add(list, number) {
        await ask('POST', `${list}/c${number}/versions`, { files: encodeTree(treeOf(number)) });
        return `c${number}`;
      },
      idOf: ({ slug }) => String(slug),
    },
    listConnectorVersions: {
      open: async (name) => `/connectors/${name}/versions`,
      async add(list, number) {
        const { latest } = await ask('POST', list, { files: encodeTree(treeOf(number)) });
        return String((latest as { number: number }).number);
      },
      idOf: ({ number }) => String(number),
    },
  };
};

const entry = (id: number, via: 'api' | 'webhook') => ({
  ...{ id, at: sharedTime(id), via, operation: 'made', method: 'POST', path: null, status: null },
  request: {
    ...{ url: 'https://a.example/hook', subscription: { id: 1 }, generation: 0, scope: null },
    ...{ headers: { 'content-type': 'application/json' }, body: {}, query: {} },
  },
  response: null,
  ...{ duration_ms: 0, changes: {}, rows: [], call_id: null },
});

const listsOfSessions = (stage: Stage): Lists => {
  const { ask, control } = stage;
  const hosts = new Map<string, PlayedHost>();
  /**
   * Returns the host that gets this session. Runs of another walk keep opening sessions, and the oldest waiting one is
   * served first.
   */
  const hostOf = async (sessionId: string): Promise<PlayedHost> => {
    for (;;) {
      const host = await warmHost(control);
      const taken = await host.poll();
      if (taken?.sessionId === sessionId) return host;
    }
  };
  const openSession = async (slug: string, pathOf: (sessionId: string) => string) => {
    // Otherwise a host would take a waiting session of another walk.
    await clearPool(control);
    const { id } = await ask('POST', '/world-sessions', { slug });
    const host = await hostOf(id);
    await host.ready();
    const list = pathOf(id);
    hosts.set(list, host);
    return list;
  };
  /** Has the host of the list's session deliver a ledger entry, in the order of the numbers. */
  const tell = async (list: string, number: number, via: 'api' | 'webhook'): Promise<string> => {
    await hosts.get(list)?.requests([entry(number, via)]);
    return String(number);
  };
  return {
    listSessions: {
      open: async () => '/world-sessions?state=PROVISIONING',
      add: async () => (await ask('POST', '/world-sessions', { slug: 'notes' })).id,
      remove: (_, id) => ask('DELETE', `/world-sessions/${id}`),
    },
    listCalls: {
      open: () => openSession('notes', (id) => `/world-sessions/${id}/calls`),
      add: async (list) => (await ask('POST', list, { kind: 'state' })).id,
    },
    listSessionRequests: {
      open: () => openSession('notes', (id) => `/world-sessions/${id}/requests`),
      add: (list, number) => tell(list, number, 'api'),
      idOf: ({ id }) => String(id),
    },
    listWorldRequests: {
      async open(name) {
        await makeWorld(stage, name);
        return openSession(name, () => `/worlds/${name}/requests`);
      },
      add: (list, number) => tell(list, number, 'api'),
      idOf: ({ id }) => String(id),
    },
    listDeliveries: {
      open: () => openSession('notes', (id) => `/world-sessions/${id}/deliveries`),
      add: (list, number) => tell(list, number, 'webhook'),
      idOf: ({ sequence }) => String(sequence),
    },
  };
};

const listsOfAccounts = ({ account }: Stage): Lists => ({
  listAuditLog: {
    async open(name) {
      const { id } = await account('POST', '/projects', { name });
      return `/organizations/audit-log?projectId=${id}`;
    },
    async add(list, number) {
      const floor = 100 + number;
      const projectId = query(list, 'projectId');
      await account('PATCH', `/projects/${projectId}/settings`, { gate: { floor } });
      return String(floor);
    },
    idOf: ({ id, after }) => String((after as { gate?: { floor: number } })?.gate?.floor ?? id),
    isAccount: true,
  },
  listTokens: {
    open: async () => '/organizations/tokens?all=true',
    async add(_, number) {
      const email = 'walker@example.test';
      await account('PUT', '/organizations/memberships', { email, role: 'MEMBER' });
      const body = { name: `t${number}`, email };
      return (await account('POST', '/organizations/tokens', body)).id;
    },
    remove: (_, id) => account('DELETE', `/organizations/tokens/${id}`),
    isAccount: true,
  },
});

export const listsOfWorldsAndSessions = (stage: Stage): Lists => ({
  ...listsOfWorlds(stage),
  ...listsOfSessions(stage),
  ...listsOfAccounts(stage),
});
