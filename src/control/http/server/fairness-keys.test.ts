import { describe, expect, it } from 'vitest';
import type { Queryable } from '../../db/core/database.ts';
import { createFindFairnessKey } from './fairness-keys.ts';

/** Builds a lookup over fake sessions that counts its database queries. `serving` maps each host to its session. */
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
  it('is the project for each host that serves a session of the project, and is looked up once for each such host', async () => {
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

  it('is the host itself if the request names no session, or one that the host does not serve', async () => {
    const { ofHost } = start({ h1: 's1' });
    expect(await ofHost('h2', { sessionId: 's1' })).toBe('h2');
    expect(await ofHost('h1', { hostId: 'h1' })).toBe('h1');
  });
});
