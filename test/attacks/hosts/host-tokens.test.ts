/**
 * Attacks with a stolen host token. It must give access to nothing beyond the host's own session, to no other address,
 * and to nothing once the host has another generation. The theft itself is assumed; the contract of the drivers tests
 * that no inspection reveals the token.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/id.ts';
import { heartbeat, pollCalls, reportWarm } from '#wire/host-api/operations.ts';
import { observePool, reportGone } from '#wire/pool-api/operations.ts';
import {
  closeSession,
  enqueueCall,
  getCall,
  getSession,
  listSessionRequests,
  openSession,
} from '#wire/public-api/operations.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';
import { startTestControl } from '../../support/control/control.ts';
import {
  atReplica,
  baseState,
  clearPool,
  installation,
  launchHost,
  type PlayedHost,
  play,
  playedAddress,
  warmHost,
} from '../../support/control/host.ts';
import {
  attempt,
  names,
  ofHosts,
  ofSessions,
  type Target,
} from '../../support/control/host-operations.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

let control: OwnControl;

beforeAll(async () => {
  control = await startNotesControl();
});
afterEach(() => clearPool(control));
afterAll(() => control.stop());

/** Source address that no host of these tests uses. */
const elsewhere = '10.9.8.7';

const open = async (): Promise<SessionView> =>
  (await control.send(openSession, { body: { slug: 'notes', reuseWarm: true } })).body;

const read = async (sessionId: string): Promise<SessionView> =>
  (await control.send(getSession, { params: { sessionId } })).body;

/** Opens a session that is ready on a host of its own. */
const served = async (): Promise<[SessionView, PlayedHost]> => {
  const host = await warmHost(control);
  const session = await open();
  await host.poll();
  await host.ready();
  return [session, host];
};

const targetOf = async ([session, host]: [SessionView, PlayedHost]): Promise<Target> => {
  const body = { kind: 'tool', name: 'list_notes' } as const;
  const params = { sessionId: session.id };
  const { id: callId } = (await control.send(enqueueCall, { params, body, query: {} })).body;
  return { hostId: host.id, sessionId: session.id, callId, generation: host.generation };
};

/**
 * Returns everything that an attack must leave unchanged: the host, the session, its call and its
 * ledger.
 */
const standing = async ({ hostId, sessionId, callId }: Target) => {
  const params = { sessionId, callId };
  const [host] = await control.sql(
    'select state, generation, address, source_address, end_reason from hosts where id = $1',
    [hostId],
  );
  const { state, lastActivityAt } = await read(sessionId);
  return {
    host,
    state,
    lastActivityAt,
    call: (await control.send(getCall, { params })).body.state,
    ledger: (await control.send(listSessionRequests, { params: { sessionId } })).body.data,
  };
};

/** Codes of a refusal to access foreign or missing objects. */
const refused = expect.stringMatching(/^(conflict|forbidden|not_found)$/);

describe('a host token that is used from another address', () => {
  it.each(names)('does not permit %s', async (name) => {
    const host = await served();
    const target = await targetOf(host);
    const before = await standing(target);
    const send = control.asHost(host[1].token, elsewhere);
    await expect(attempt(name, send, target)).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining(`is not accepted from ${elsewhere}`),
    });
    expect(await standing(target)).toEqual(before);
  });

  it('is refused by another replica that has not yet received a request of its host', async () => {
    const [, host] = await served();
    const databaseUrl = control.config.databaseUrl.reveal();
    const replica = await startTestControl({ databaseUrl, replicaOf: control });
    try {
      const there = replica.asHost(host.token, elsewhere);
      const body = { generation: host.generation, rssBytes: 1 };
      const beat = there(heartbeat, { params: { hostId: host.id }, body });
      await expect(beat).rejects.toMatchObject({ code: 'forbidden' });
      expect(await atReplica(host, replica).beat()).toMatchObject({ drain: false });
    } finally {
      await replica.stop();
    }
  });

  it('cannot claim the host’s address: the host can still make the first report', async () => {
    const host = await warmHost(control);
    const send = control.asHost(host.token, elsewhere);
    const report = send(reportWarm, { params: { hostId: host.id }, body: { generation: 0 } });
    await expect(report).rejects.toMatchObject({ code: 'forbidden' });
    expect(await host.warm()).toBe('warm');
  });

  it('is accepted from its host, however the address is written', async () => {
    const [, host] = await served();
    const send = control.asHost(host.token, '::ffff:127.0.0.1');
    const body = { generation: host.generation, rssBytes: 1 };
    await send(heartbeat, { params: { hostId: host.id }, body });
  });

  it('is accepted from any address when the operator turns pinning off, as behind address translation', async () => {
    const databaseUrl = control.config.databaseUrl.reveal();
    const config = { ...control.config, pinHosts: false };
    const replica = await startTestControl({ databaseUrl, replicaOf: { config } });
    try {
      const host = await warmHost(replica);
      const send = replica.asHost(host.token, elsewhere);
      await send(heartbeat, { params: { hostId: host.id }, body: { generation: 0, rssBytes: 1 } });
    } finally {
      await replica.stop();
    }
  });
});

describe('the token that a host was launched with', () => {
  const renew = async (host: PlayedHost, from?: string) => {
    const address = playedAddress(host.id);
    const report = { params: { hostId: host.id }, body: { generation: 0, address, renews: true } };
    return (await control.asHost(host.token, from)(reportWarm, report)).body.token ?? '';
  };

  it('is refused at every replica before the host is given its first session', async () => {
    const host = await launchHost(control);
    const token = await renew(host);
    expect(await renew(host)).toBe(token); // A repeat, as after a lost answer.
    const working = play(host.id, token, control.asHost(token));
    await open();
    await working.poll();
    const databaseUrl = control.config.databaseUrl.reveal();
    const replica = await startTestControl({ databaseUrl, replicaOf: control });
    try {
      const target = { ...(await targetOf([await working.ready().then(open), working])) };
      for (const send of [host.send, replica.asHost(host.token)]) {
        for (const name of names) {
          const late = attempt(name, send, target);
          await expect(late, name).rejects.toMatchObject({ code: 'unauthenticated' });
        }
      }
      expect(await atReplica(working, replica).beat()).toMatchObject({ drain: false });
    } finally {
      await replica.stop();
    }
  });

  it('is exchanged for the working token only by its host, and only with its first report', async () => {
    const host = await launchHost(control);
    const token = await renew(host);
    await expect(renew(host, elsewhere)).rejects.toMatchObject({ code: 'forbidden' });
    await play(host.id, token, control.asHost(token)).beat();
    await expect(renew(host)).rejects.toMatchObject({ code: 'unauthenticated' });
    const plain = await warmHost(control);
    expect(await renew(plain)).toBe(''); // The host did not ask for a token with its first report.
  });
});

describe('a host token and the session of another host', () => {
  it.each(ofSessions)('are refused together for %s', async (name) => {
    const victim = await targetOf(await served());
    const [, thief] = await served();
    const before = await standing(victim);
    for (const generation of [thief.generation, victim.generation, 0, 2]) {
      const stolen = attempt(name, thief.send, { ...victim, generation });
      await expect(stolen).rejects.toMatchObject({ code: 'conflict' });
    }
    expect(await standing(victim)).toEqual(before);
  });

  it.each(ofHosts)('are refused together for %s', async (name) => {
    const victim = await targetOf(await served());
    const [, thief] = await served();
    const before = await standing(victim);
    await expect(attempt(name, thief.send, victim)).rejects.toMatchObject({ code: 'forbidden' });
    expect(await standing(victim)).toEqual(before);
  });

  it('are refused together for the world that another host is loading', async () => {
    const host = await warmHost(control);
    await open();
    const { bundle = baseState, snapshot = baseState } = (await host.poll()) ?? {};
    const thief = await launchHost(control);
    await thief.warm();
    for (const digest of [bundle, snapshot]) {
      await expect(thief.blob(digest)).rejects.toMatchObject({ code: 'forbidden' });
    }
    await host.ready();
    // Code of the world, once it runs, cannot fetch its own bundle with the graders.
    await expect(host.blob(bundle)).rejects.toMatchObject({ code: 'forbidden' });
  });
});

describe('a host token with an earlier or later generation', () => {
  const again = ['reportFailed', 'reportClosed'];

  it.each([...ofSessions, 'reportWarm', 'pollHost', 'reportUnloaded', 'heartbeat'])(
    'does not permit %s',
    async (name) => {
      const [session, host] = await served();
      const params = { sessionId: session.id };
      await control.send(closeSession, { params, body: { keepWarm: true } });
      await host.closed();
      const { bundle = baseState } = host.assignment ?? {};
      await host.warm({ bundle, stateDigest: baseState });
      const next = await open();
      await host.poll();
      await host.ready();
      expect(host.generation).toBe(3);
      const target = await targetOf([next, host]);
      const before = await standing(target);
      const over = { ...target, generation: 1 };
      for (const sessionId of [next.id, session.id]) {
        const late = attempt(name, host.send, { ...over, sessionId });
        // A repeated report is accepted and changes nothing.
        if (again.includes(name) && sessionId === session.id) await late;
        else await expect(late).rejects.toMatchObject({ code: refused });
      }
      expect(await standing(target)).toEqual(before);
      expect((await read(session.id)).state).toBe('CLOSED');
    },
  );

  it.each([0, 3, 2 ** 31 - 1])('does not let its host leave: generation %i', async (generation) => {
    const host = await served();
    const target = await targetOf(host);
    await control.sql('update hosts set generation = 2 where id = $1', [target.hostId]);
    const before = await standing(target);
    const late = attempt('reportLeaving', host[1].send, { ...target, generation });
    await expect(late).rejects.toMatchObject({ code: 'conflict' });
    expect(await standing(target)).toEqual(before);
  });

  it('is refused everywhere once its host is gone', async () => {
    const host = await served();
    const target = await targetOf(host);
    const params = { hostId: target.hostId };
    await control.pool(reportGone, { params, body: { reason: 'exited' } });
    const before = await standing(target);
    const again = ['reportLeaving', 'reportFailed']; // Each of these already had its effect.
    for (const name of names) {
      for (const generation of [0, 1, 2]) {
        const late = attempt(name, host[1].send, { ...target, generation });
        if (again.includes(name)) await late.catch(() => undefined);
        else await expect(late, name).rejects.toMatchObject({ code: refused });
      }
    }
    expect(await standing(target)).toEqual(before);
  });
});

describe('a host token', () => {
  /** Tokens recombined from parts of real ones. */
  const forgeries = (host: PlayedHost, other: PlayedHost): string[] => {
    const mac = host.token.slice(host.token.indexOf('.') + 1);
    return [
      `${other.id}.${mac}`,
      `${host.id.toUpperCase()}.${mac}`,
      `${host.id}.${mac.slice(0, -1)}`,
      `${host.id}.`,
      `.${mac}`,
      `${host.id}%00.${mac}`,
      `${newId('hst')}.${mac}`,
      host.assignment?.sessionToken ?? '',
    ];
  };

  it('cannot be made from the token of another host, nor from the token of a session', async () => {
    const [, host] = await served();
    const other = await warmHost(control);
    for (const token of forgeries(host, other)) {
      for (const { id: hostId } of [host, other]) {
        const body = { generation: 0, rssBytes: 1 };
        const forged = control.asHost(token)(heartbeat, { params: { hostId }, body });
        await expect(forged, token).rejects.toMatchObject({ code: 'unauthenticated' });
      }
    }
  });

  it.each([
    ['GET', '/api/public/world-sessions'],
    ['GET', '/api/public/worlds/notes'],
    ['GET', `/api/pool/view?installation=${installation}`],
    ['POST', '/api/pool/hosts'],
    ['GET', '/api/gateway/changes'],
    ['GET', '/api/admin/hosts'],
    ['POST', '/api/admin/drain'],
  ])('gives no access to another API: %s %s', async (method, path) => {
    const [, host] = await served();
    const headers = { authorization: `Bearer ${host.token}`, 'content-type': 'application/json' };
    const body = method === 'POST' ? '{}' : undefined;
    const answer = await control.raw({ method, path, headers, ...(body ? { body } : {}) });
    expect(answer.status).toBe(401);
  });

  it.each([
    ['a path', '/api/host/blobs/..%2F..%2Fetc%2Fpasswd', 400],
    ['another session by a path', '/api/host/world-sessions/..%2Fses-1/calls?generation=1', 409],
    ['a generation that is none', '/api/host/world-sessions/ses-1/calls?generation=-1', 400],
    ['one too large', '/api/host/world-sessions/ses-1/calls?generation=99999999999', 400],
  ])('is refused with %s', async (_, path, status) => {
    const [, host] = await served();
    const headers = { authorization: `Bearer ${host.token}` };
    expect((await control.raw({ method: 'GET', path, headers })).status).toBe(status);
  });

  it('gets the same answer for a session of another host as for a session that does not exist', async () => {
    const [victim] = await served();
    const [, thief] = await served();
    const result = await Promise.all(
      [victim.id, newId('ses')].map((sessionId) =>
        thief
          .send(pollCalls, { params: { sessionId }, query: { generation: 1 } })
          .catch(({ code, message }) => ({ code, message: message.replace(sessionId, '…') })),
      ),
    );
    expect(result[0]).toEqual(result[1]);
  });

  it('receives only the assignments of its own host', async () => {
    const host = await warmHost(control);
    const thief = await warmHost(control);
    const session = await open();
    const { body } = await control.pool(observePool, { query: { installation } });
    const owner = body.hosts.find(({ sessionId }) => sessionId === session.id)?.id;
    const [mine, others] = owner === host.id ? [host, thief] : [thief, host];
    expect(await others.poll(0)).toBeUndefined();
    expect((await mine.poll(0))?.sessionId).toBe(session.id);
    expect(playedAddress(mine.id)).not.toBe(playedAddress(others.id));
  });
});
