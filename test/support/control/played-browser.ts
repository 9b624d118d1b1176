/** A browser's host that a test simulates: the test sends the host's messages one at a time. */
import { browserSize } from '#domain/pool.ts';
import type { BrowserAssignment } from '#wire/host-api/browser-operations.ts';
import {
  consumeEntry,
  heartbeat,
  keepCheckpoint,
  keepRecording,
  pollBrowser,
  pollHost,
  reportBrowserClosed,
  reportBrowserReady,
  reportLeaving,
  reportWarm,
} from '#wire/host-api/operations.ts';
import type { ClientInput } from '#wire/operation.ts';
import { registerHost, reportLaunched } from '#wire/pool-api/operations.ts';
import type { TestControl } from './control.ts';
import { anyHost, playedAddress } from './host.ts';

export type PlayedBrowser = Awaited<ReturnType<typeof warmBrowser>>;

/** Returns a warm browser that waits for a session; of one tier alone when one is named. */
export const warmBrowser = async (
  control: TestControl,
  tier: 'standard' | 'premium' | null = null,
) => {
  const wanted = { ...anyHost, pool: 'browsers', size: browserSize, tier, maxLive: 1_000 };
  const { body: registered } = await control.pool(registerHost, { body: wanted });
  const { hostId, token } = registered;
  await control.pool(reportLaunched, { params: { hostId }, body: { runtimeId: `run-${hostId}` } });
  const send = control.asHost(token);
  const address = playedAddress(hostId);
  const browser = {
    id: hostId,
    address,
    generation: 0,
    assignment: undefined as BrowserAssignment | undefined,
    async warm() {
      const body = { generation: browser.generation, address };
      return (await send(reportWarm, { params: { hostId }, body })).body.state;
    },
    /** Polls for a session; returns undefined when there was none in time. */
    async poll(hold = 5): Promise<BrowserAssignment | undefined> {
      const input = { params: { hostId }, body: { generation: browser.generation, hold } };
      const { body } = await send(pollHost, input);
      if (body.browser !== undefined) {
        browser.assignment = body.browser;
        browser.generation = body.browser.generation;
      }
      return body.browser;
    },
    session: () => ({ sessionId: browser.assignment?.sessionId ?? '' }),
    ready: (former?: string) =>
      send(reportBrowserReady, {
        params: browser.session(),
        body: {
          generation: browser.generation,
          ...(former === undefined ? {} : { address: former }),
        },
      }),
    keep: (sequence: number, content: string) =>
      send(keepCheckpoint, {
        params: browser.session(),
        body: { generation: browser.generation, sequence, content },
      }),
    record: (part: Omit<ClientInput<typeof keepRecording>['body'], 'generation'>) =>
      send(keepRecording, {
        params: browser.session(),
        body: { generation: browser.generation, ...part },
      }),
    async isClosed(hold = 0) {
      const query = { generation: browser.generation, hold };
      return (await send(pollBrowser, { params: browser.session(), query })).body.close === true;
    },
    async closed() {
      const body = { generation: browser.generation };
      const answer = await send(reportBrowserClosed, { params: browser.session(), body });
      browser.generation = answer.body.generation;
      return answer.body.next;
    },
    async consume(link: string, surface: 'ui' | 'browser' = 'browser') {
      const text =
        new URL(link).searchParams.get('token') ?? new URL(link).searchParams.get('ticket');
      const body = { generation: browser.generation, surface, token: text ?? '' };
      return (await send(consumeEntry, { params: browser.session(), body })).body;
    },
    beat: (idleMs: number) =>
      send(heartbeat, {
        params: { hostId },
        body: { generation: browser.generation, rssBytes: 1, idleMs },
      }),
    leave: () =>
      send(reportLeaving, { params: { hostId }, body: { generation: browser.generation } }),
  };
  await browser.warm();
  return browser;
};
