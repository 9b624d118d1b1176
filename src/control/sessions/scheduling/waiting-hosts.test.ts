import { describe, expect, it } from 'vitest';
import { JsonText } from '../../base/json/json-text.ts';
import { createWaitingHosts } from './waiting-hosts.ts';

const host = { sessionId: 'ses-1', hostId: 'hst-1', generation: 1 };
const call = {
  id: 'call-1',
  seq: 1,
  kind: 'tool' as const,
  name: 'list',
  input: new JsonText('{}'),
};

describe('the registration of a waiting host', () => {
  it('can be reserved by one request only', () => {
    const waitingHosts = createWaitingHosts(() => {});
    expect(waitingHosts.reserve('ses-1')).toBeUndefined();
    waitingHosts.register(host);
    expect(waitingHosts.reserve('ses-1')?.host).toEqual(host);
    expect(waitingHosts.reserve('ses-1')).toBeUndefined();
  });

  it('ends with the call of the request that reserved it', async () => {
    const woken: string[] = [];
    const waitingHosts = createWaitingHosts((sessionId) => woken.push(sessionId));
    const registration = waitingHosts.register(host);
    const handover = waitingHosts.reserve('ses-1');
    const left = registration.leave();
    handover?.give(call);
    expect(await left).toEqual(call);
    expect(woken).toEqual(['ses-1']);
  });

  it('ends without a call if no request reserved it, or the request had no call', async () => {
    const waitingHosts = createWaitingHosts(() => {});
    expect(await waitingHosts.register(host).leave()).toBeUndefined();
    expect(waitingHosts.reserve('ses-1')).toBeUndefined();
    const registration = waitingHosts.register(host);
    waitingHosts.reserve('ses-1')?.release();
    expect(await registration.leave()).toBeUndefined();
  });

  it('belongs to the host that registered last', async () => {
    const waitingHosts = createWaitingHosts(() => {});
    const first = waitingHosts.register(host);
    const second = waitingHosts.register({ ...host, generation: 2 });
    expect(await first.leave()).toBeUndefined();
    const handover = waitingHosts.reserve('ses-1');
    expect(handover?.host.generation).toBe(2);
    handover?.give(call);
    expect(await second.leave()).toEqual(call);
  });
});
