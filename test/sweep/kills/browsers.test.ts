/**
 * Tests sessions that lose their Chromium, its container, the gateway, the control plane or their node while a client
 * writes in their page, on each runtime. Afterwards no acknowledged write is missing, the page still knows its
 * signed-in user, and no container is left. A table shows the time until the browser could be used again.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { pause, until } from '#runtime/pause.ts';
import { createWorld, listSessionRequests } from '#wire/public-api/operations.ts';
import { browserOf, whole } from '../../support/browser/browser-session.ts';
import { call, close, open } from '../../support/control/sessions.ts';
import { type Chance, createChance } from '../../support/random/chance.ts';
import { pageWorld } from '../../support/worlds/page-world.ts';
import { encodeTree } from '../../support/worlds/worlds.ts';
import { type Loss, losses } from './browser-losses.ts';
import {
  type BrowserService,
  findBrowserRuntimes,
  startBrowserService,
} from './browser-service.ts';
import { isSingle } from './extent.ts';
import { isSignedIn, signIn, writeOn } from './page-writer.ts';

const { seed, browsers } = inject('sweep');

type Time = { runtime: string; loss: string; ms: number };
const times: Time[] = [];

/** Returns every loss once before any repeats, each round in an order of its own. */
const mixed = (all: readonly Loss[], count: number): Loss[] => {
  const rounds = Math.ceil(count / all.length);
  const orders = fc.sample(fc.shuffledSubarray([...all], { minLength: all.length }), {
    seed,
    numRuns: rounds,
  });
  return orders.flat().slice(0, count);
};

const median = (values: readonly number[]): number | undefined =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** Returns a Markdown table with a row for each runtime and loss, and one for all. */
const report = (): string => {
  const rowOf = (name: string, of: readonly Time[]): string => {
    const all = of.map(({ ms }) => ms);
    const seconds = (ms = 0): string => (ms / 1_000).toFixed(2);
    return `| ${name} | ${all.length} | ${seconds(median(all))} s | ${seconds(Math.max(...all))} s |`;
  };
  const groups = Map.groupBy(times, ({ runtime, loss }) => `${runtime}: ${loss}`);
  const rows = [...groups].sort(([a], [b]) => a.localeCompare(b)).map((of) => rowOf(...of));
  const head = ['| lost | times | median | worst |', '| - | -: | -: | -: |'];
  return [...head, ...rows, rowOf('all', times)].join('\n');
};

type Page = { rows: { title: string }[]; next?: number };

/** Returns the titles of all notes in the world. */
const titlesOf = async ({ network }: BrowserService, sessionId: string): Promise<string[]> => {
  const titles: string[] = [];
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const input = { entity: 'notes', limit: 1_000, offset };
    const { output } = await call(network.client, sessionId, { kind: 'state', input });
    const { rows, next } = output as Page;
    titles.push(...rows.map(({ title }) => title));
    offset = next;
  }
  return titles;
};

/** Returns the browser operations in the session's ledger. */
const noted = async ({ network }: BrowserService, sessionId: string): Promise<string[]> => {
  const query = { limit: 100, via: 'browser' as const };
  const { body } = await network.client.send(listSessionRequests, { params: { sessionId }, query });
  return body.data.map(({ operation }) => operation ?? '');
};

const runtimes = isSingle ? [] : await findBrowserRuntimes(browsers);

describe.each(runtimes)('on $runtime', ({ runtime, times: count }) => {
  const cases = mixed(
    losses.filter(({ on }) => on === undefined || on.includes(runtime)),
    count,
  ).map((loss, index) => ({ ...loss, number: index + 1 }));
  let service: BrowserService;
  let chance: Chance;

  beforeAll(async () => {
    chance = createChance(seed);
    service = await startBrowserService(runtime);
    const from = encodeTree(pageWorld());
    await service.network.client.send(createWorld, { body: { slug: 'notes', from } });
  }, 900_000);

  afterAll(async () => {
    await service.mend();
    await service.stop();
    if (times.length > 0) console.log(report());
    let left: string[] = [];
    const isClear = async (): Promise<boolean> => {
      left = await service.leftovers();
      return left.length === 0;
    };
    await until(isClear, { timeoutMs: 60_000, everyMs: 500, what: 'nothing left' }).catch(() =>
      expect(left).toEqual([]),
    );
  }, 180_000);

  it.for(cases)('case $number: $name', { timeout: 180_000 }, async (loss, { onTestFinished }) => {
    const { network, gatewayPort } = service;
    await service.mend();
    await service.warm();
    const session = await open(network.client, { slug: 'notes', surfaces: ['browser'] });
    onTestFinished(async () => {
      await close(network.client, session.id);
      await service.hasNoStrays();
    }, 120_000);
    expect(session.ready).toBe(true);
    await signIn(session, gatewayPort);
    await service.hasKept(session.id, 'account');
    await service.warm();
    const writing = writeOn(session, gatewayPort);
    await until(() => writing.acknowledged.length > 0, { timeoutMs: 20_000, what: 'a note' });
    await pause(chance.between(0, 600));
    const strike = await loss.aim(service, session.id);
    const lostAt = performance.now();
    await strike();
    const struckAt = performance.now();
    const isBack = (): boolean => {
      const { at, connectedAt } = writing.last();
      return at > struckAt && (!loss.cutsClients || connectedAt > lostAt);
    };
    await until(isBack, { timeoutMs: 60_000, everyMs: 5, what: 'a note after the loss' });
    const ms = Math.round(writing.outageMs(lostAt));
    times.push({ runtime, loss: loss.name, ms });
    console.info(`${loss.name}: usable again after ${ms} ms`); // printed at once, in case the run is interrupted
    await writing.stop();
    const after = await whole(network, session.id);
    expect(browserOf(after)).toEqual(browserOf(session));
    expect(await isSignedIn(after, gatewayPort)).toEqual({
      cookie: true,
      stored: 'mara',
      status: 200,
    });
    if (loss.noted !== undefined) {
      const { noted: word } = loss;
      const isNoted = async () => (await noted(service, session.id)).includes(word);
      await until(isNoted, { timeoutMs: 10_000, everyMs: 100, what: `"${word}" in the ledger` });
    }
    const titles = new Set(await titlesOf(service, session.id));
    expect(writing.acknowledged.filter((title) => !titles.has(title))).toEqual([]);
  });
});
