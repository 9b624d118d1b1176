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

describe('a seat', () => {
  it('is reached by one hand only', () => {
    const waitingHosts = createWaitingHosts(() => {});
    expect(waitingHosts.reach('ses-1')).toBeUndefined();
    waitingHosts.sit(host);
    expect(waitingHosts.reach('ses-1')?.host).toEqual(host);
    expect(waitingHosts.reach('ses-1')).toBeUndefined();
  });

  it('is left with the call of a hand that was still reaching', async () => {
    const rung: string[] = [];
    const waitingHosts = createWaitingHosts((sessionId) => rung.push(sessionId));
    const seat = waitingHosts.sit(host);
    const hand = waitingHosts.reach('ses-1');
    const left = seat.leave();
    hand?.give(call);
    expect(await left).toEqual(call);
    expect(rung).toEqual(['ses-1']);
  });

  it('leaves without a call if no request reserved it, or the request had none', async () => {
    const waitingHosts = createWaitingHosts(() => {});
    expect(await waitingHosts.sit(host).leave()).toBeUndefined();
    expect(waitingHosts.reach('ses-1')).toBeUndefined();
    const seat = waitingHosts.sit(host);
    waitingHosts.reach('ses-1')?.release();
    expect(await seat.leave()).toBeUndefined();
  });

  it('goes to the latest who sat down', async () => {
    const waitingHosts = createWaitingHosts(() => {});
    const first = waitingHosts.sit(host);
    const second = waitingHosts.sit({ ...host, generation: 2 });
    expect(await first.leave()).toBeUndefined();
    const hand = waitingHosts.reach('ses-1');
    expect(hand?.host.generation).toBe(2);
    hand?.give(call);
    expect(await second.leave()).toEqual(call);
  });
});
