import { describe, expect, it } from 'vitest';
import type { Queryable } from '../../db/core/database.ts';
import { createFindFairnessKey } from './fairness-keys.ts';

/** Builds a finder over fake sessions (`serving` has their host by id) that counts its database lookups. */
const start = (serving: Record<string, string>) => {
  let looks = 0;
  const query = async (_: unknown, [sessionId, hostId]: unknown[] = []) => {
    looks += 1;
    return serving[String(hostId)] === sessionId ? [{ projectId: 'prj-a' }] : [];
  };
  const find = createFindFairnessKey({ query } as unknown as Queryable);
  const ofHost = (hostId: string, params: object) =>
    find({ hostId, source: '127.0.0.1', isFirst: false }, params);
  return { find, ofHost, looks: () => looks };
};

describe('the fairness key of a request', () => {
  it('is the project for all hosts of its sessions, looked up once a host', async () => {
    const { find, ofHost, looks } = start({ h1: 's1', h2: 's2' });
    expect(await find({ projectId: 'prj-a', publicKey: 'pk-a', level: 'secret' }, {})).toBe(
      'prj-a',
    );
    for (let again = 0; again < 2; again += 1) {
      expect(await ofHost('h1', { sessionId: 's1' })).toBe('prj-a');
      expect(await ofHost('h2', { sessionId: 's2' })).toBe('prj-a');
    }
    expect(looks()).toBe(2);
  });

  it('is the host itself if it names a session that it does not serve, or none', async () => {
    const { ofHost } = start({ h1: 's1' });
    expect(await ofHost('h2', { sessionId: 's1' })).toBe('h2');
    expect(await ofHost('h1', { hostId: 'h1' })).toBe('h1');
  });
});
