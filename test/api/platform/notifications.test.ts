/**
 * Tests notifications between replicas during start-up: a waiter checks again for changes whose notification it may
 * have missed.
 */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import { Secret } from '#runtime/secret.ts';
import { type Database, openDatabase } from '../../../src/control/db/core/database.ts';
import {
  type Notifications,
  startNotifications,
} from '../../../src/control/platform/notifications/notifications.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';

const log = createLog('test', 'silent');
const longMs = 10_000;

let database: TestDatabase;
let url: Secret;
let db: Database;
let started: Notifications[];

beforeEach(async () => {
  database = await testDatabase();
  url = new Secret(database.url);
  db = openDatabase(url, log);
  started = [];
});

afterEach(async () => {
  await Promise.all(started.map((notifications) => notifications.stop()));
  await db.close();
  await database.drop();
});

/** Starts a replica that looks for peers every `everyMs` milliseconds. */
const start = (everyMs: number): Notifications => {
  const notifications = startNotifications(url, db, log, everyMs);
  started.push(notifications);
  return notifications;
};

const isAlone = (notifications: Notifications): boolean =>
  notifications.loops.some((loop) => {
    const { name, last } = loop.status();
    if (name === 'company' && last !== 'alone') loop.nudge();
    return name === 'company' && last === 'alone';
  });

it('a starting replica wakes its waiters again once its peers know of it', async () => {
  const watch = start(20).watch('ses-1');
  expect(await watch.next(longMs), 'as it listens').toEqual({ isNotified: true });
  expect(await watch.next(longMs), 'because earlier notifications may be lost').toEqual({
    isNotified: true,
  });
});

it('a replica that had no peers notifies a new peer as soon as that one listens', async () => {
  const first = start(60_000);
  await until(() => isAlone(first), { timeoutMs: longMs, what: 'a check that finds no peer' });
  const second = start(60_000);
  const watch = second.watch('ses-1');
  await watch.next(longMs);
  const heard = watch.next(longMs);
  let isNotified = false;
  void heard.then((next) => {
    isNotified = next.isNotified;
  });
  await until(
    () => {
      first.notify('ses-1');
      return isNotified;
    },
    { timeoutMs: longMs, what: 'a notice that arrives' },
  );
});
