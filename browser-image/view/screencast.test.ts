/** Tests how dropped pictures are requested again, with a fake Chromium that records when it is asked to start. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createLog } from '#runtime/log.ts';
import type { Params } from '../cdp/message.ts';
import type { Tabs } from '../watch/tabs.ts';
import { type Frame, Screencast } from './screencast.ts';

let begun: number;
let onPicture: (params: Params, sessionId: string) => void;
let shown: { frame: Frame; more: () => void }[];
let screencast: Screencast;

const tab = { id: 'tab' };
const tabs = {
  active: () => tab,
  find: () => tab,
  onChange: () => () => undefined,
} as unknown as Tabs;

beforeEach(async () => {
  vi.useFakeTimers();
  [begun, shown] = [0, []];
  screencast = new Screencast({
    driver: {
      async send(method) {
        if (method === 'Page.startScreencast') begun += 1;
        return method === 'Target.attachToTarget' ? { sessionId: 'page' } : {};
      },
      on: (_, listener) => {
        onPicture = listener;
      },
      end: async () => undefined,
    },
    ...{
      tabs,
      picture: { quality: 60, maxWidth: 100, maxHeight: 100 },
      log: createLog('browser', 'silent'),
    },
    onFrame: (frame, more) => void shown.push({ frame, more }),
  });
  await vi.advanceTimersByTimeAsync(0);
});

afterEach(() => {
  screencast.stop();
  vi.useRealTimers();
});

const send = (count: number): void => {
  for (let at = 0; at < count; at += 1) {
    const metadata = { deviceWidth: 10, deviceHeight: 10 };
    onPicture({ data: '', metadata, sessionId: at }, 'page');
  }
};

const acknowledge = (): void => {
  for (const { more } of shown.splice(0)) more();
};

it('the screencast requests a picture again once all is quiet, because the last one may have been dropped', async () => {
  expect(begun).toBe(1);
  send(3);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(begun).toBe(1);
  acknowledge();
  await vi.advanceTimersByTimeAsync(249);
  expect(begun).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun).toBe(2);
  send(1);
  acknowledge();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(begun).toBe(2);
});

it('the screencast requests nothing while pictures arrive, or when none can have been dropped', async () => {
  for (let at = 0; at < 10; at += 1) {
    send(3);
    acknowledge();
    await vi.advanceTimersByTimeAsync(200);
  }
  expect(begun).toBe(1);
  screencast.stop();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(begun).toBe(1);
});

it('the screencast requests the first picture again until it has arrived', async () => {
  await vi.advanceTimersByTimeAsync(2_000);
  expect(begun).toBe(2);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(begun).toBe(3);
  send(1);
  acknowledge();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(begun).toBe(3);
});

it('the screencast requests a picture again on demand, even if none arrived', async () => {
  screencast.again();
  await vi.advanceTimersByTimeAsync(250);
  expect(begun).toBe(2);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(begun).toBe(2);
});
