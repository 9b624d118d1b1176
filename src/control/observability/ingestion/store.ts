/**
 * Store for telemetry. It batches the reports of several requests and writes each batch in one transaction, on its own
 * database connections. A report can be read once its request is answered.
 */
import { randomInt } from 'node:crypto';
import { AppError } from '#domain/error.ts';
import { eventsOn } from '#observability/daily.ts';
import type { Priceable } from '#observability/pricing.ts';
import {
  createOpenPriority,
  type OpenPriority,
  type YieldToOpens,
} from '../../base/fairness/open-priority.ts';
import type { Database, Statement, Transaction } from '../../db/core/database.ts';
import { isLockConflict } from '../../db/core/errors.ts';
import type { Values } from '../../db/core/parameters.ts';
import { addDailyUsage, usageSlots } from '../../db/observability/daily-usage.ts';
import { type DedupeKey, recordEvents } from '../../db/observability/event-dedupe.ts';
import { priceableOf } from '../../db/observability/observation-rows.ts';
import { type ScoreWrite, writeScores } from '../../db/observability/scores.ts';
import { createTraceWeeks, type TraceWeeks } from '../../db/observability/trace-weeks.ts';
import type { PriceBook, ProjectPrices } from '../models/price-book.ts';
import type { Report } from './fold.ts';
import { lockingOf } from './locking.ts';
import { createMonthlyLimit, type MonthlyLimit } from './monthly-limit.ts';
import { asOverload } from './overload.ts';
import { sizeOfEvents } from './size.ts';
import { writeReports } from './write.ts';
import { WriteBatches, type WriteContext, type WriteLimits } from './write-batches.ts';

export type TraceStore = {
  db: Database;
  weeks: TraceWeeks;
  batches: WriteBatches<RequestReports>;
  openPriority: OpenPriority;
  month: MonthlyLimit;
  prices: PriceBook;
};

/** Reports of one event. */
export type EventReports = {
  /** Key by which a repeated event is recognized; null if it needs none, because repeating it changes nothing. */
  dedupeKey: DedupeKey | null;
  reports: readonly Report[];
  scores: readonly ScoreWrite[];
};

/** Reports of one request, and the prices for its observations. */
type RequestReports = {
  events: readonly EventReports[];
  /** Size of the request, in events of 8,192 characters (`size.ts`). */
  size: number;
  /**
   * True if the request may share the project's lock. It may if every observation of the request names its trace. An
   * observation without a trace gets a trace of its own, which other transactions see only after the commit. Meanwhile
   * another request could name the real trace of that observation, and the observation would exist twice. So a request
   * with such an observation takes the lock exclusively.
   */
  isShared: boolean;
  /** Prices observations by models that were read at `since` or later; `since` is in milliseconds. */
  priceAll: ProjectPrices;
  since: number;
};

const limits: WriteLimits = {
  running: 4,
  runningOfProject: 2,
  /** Limits `overlapSize` and `batchSize`, both in events of 8,192 characters. */
  overlapSize: 500,
  batchSize: 1_000,
  overlapMs: 2,
  waiting: 64,
  waitingOfProject: 48,
  waitMs: 4_000,
  retryMs: 2_000,
};

/**
 * Maximum number of rows of one statement while sessions are being opened. An open waits for at most one such
 * statement.
 */
const rowsBesideOpens = 50;

/** Wraps the transaction: before and after each statement it waits until no open of a session is in flight. */
const giving = (
  tx: Transaction,
  yieldToOpens: YieldToOpens,
  { wasTaken }: Pick<OpenPriority, 'wasTaken'>,
): Transaction => ({
  get rowsAtOnce() {
    return wasTaken() ? rowsBesideOpens : Number.POSITIVE_INFINITY;
  },
  async query<Row>(statement: Statement, values: Values) {
    await yieldToOpens();
    const rows = await tx.query<Row>(statement, values);
    await yieldToOpens();
    return rows;
  },
  async copyIn(name, text, bytes) {
    await yieldToOpens();
    await tx.copyIn(name, text, bytes);
    await yieldToOpens();
  },
});

/** Returns the events that were not ingested before. */
const freshOf = async (
  tx: Transaction,
  projectId: string,
  events: readonly EventReports[],
  week: number,
): Promise<readonly EventReports[]> => {
  const given = events.flatMap(({ dedupeKey }) => dedupeKey ?? []);
  if (given.length === 0) return events;
  const fresh = await recordEvents(tx, projectId, given, week);
  return events.filter(({ dedupeKey }) => dedupeKey === null || fresh.has(dedupeKey));
};

type Writer = Pick<TraceStore, 'db' | 'weeks' | 'openPriority'>;

const namesNoTrace = (one: Report): boolean => one.kind === 'observation' && one.traceId === null;

/**
 * Returns the prices of that request in the batch which read the models last. Older prices may lack models that were
 * created just before a request.
 */
const pricesOf = (requests: readonly RequestReports[]): ProjectPrices =>
  requests.reduce((one, other) => (other.since > one.since ? other : one)).priceAll;

/** Writes a batch of requests of one project in one transaction. */
const writeBatch = async (
  { db, weeks, openPriority }: Writer,
  projectId: string,
  requests: readonly RequestReports[],
  context: WriteContext,
): Promise<void> => {
  const yieldToOpens = openPriority.giving();
  await yieldToOpens();
  const week = await weeks.current();
  const all = requests.flatMap(({ events }) => events);
  const write = async (given: Transaction): Promise<void> => {
    const tx = giving(given, yieldToOpens, openPriority);
    const fresh = await freshOf(tx, projectId, all, week);
    const reports: Report[] = [];
    const scores: ScoreWrite[] = [];
    for (const event of fresh) {
      reports.push(...event.reports);
      scores.push(...event.scores);
    }
    const changes = await writeReports(tx, pricesOf(requests), projectId, reports, week);
    await writeScores(tx, projectId, scores);
    if (fresh.length > 0) changes.push(eventsOn(Date.now(), fresh.length));
    await addDailyUsage(tx, projectId, changes, context.slot % usageSlots);
  };
  const isShared = requests.every((one) => one.isShared);
  await db.transaction(write, 'by_key', lockingOf(projectId, { ...context, isShared }));
};

/**
 * Returns true if the failure may be caused by only some items of the batch: by their data, or by rows that another
 * transaction has locked.
 */
const concernsItems = (error: unknown): boolean =>
  !(error instanceof AppError) ||
  ['invalid', 'timeout'].includes(error.code) ||
  isLockConflict(error);

/** Opens the store on its own database connections. */
export const openTraceStore = (
  db: Database,
  prices: PriceBook,
  openPriority: OpenPriority = createOpenPriority(),
): TraceStore => {
  const weeks = createTraceWeeks(db);
  const batches = new WriteBatches<RequestReports>(limits, {
    write: (projectId, requests, context) =>
      writeBatch({ db, weeks, openPriority }, projectId, requests, context),
    sizeOf: ({ size }) => size,
    kindOf: ({ isShared }) => isShared,
    concernsItems,
    firstSlot: randomInt(usageSlots),
    isThrottled: () => openPriority.wasTaken(),
  });
  return { db, prices, openPriority, weeks, batches, month: createMonthlyLimit(db) };
};

const priceablesIn = (events: readonly EventReports[]): Priceable[] => {
  const items: Priceable[] = [];
  for (const { reports } of events) {
    for (const one of reports) if (one.kind === 'observation') items.push(priceableOf(one.state));
  }
  return items;
};

/** Writes the reports of one request. Throws `unavailable` if nothing was written because of overload. */
export const storeReports = async (
  { db, batches, prices }: TraceStore,
  projectId: string,
  events: readonly EventReports[],
): Promise<void> => {
  try {
    // User patterns are matched before any lock is taken, so that only their own project waits for them. The exception
    // are models created since, when the batch uses the prices of another request of the project.
    const since = performance.now();
    const priceAll = prices.of(projectId);
    await priceAll(db, priceablesIn(events));
    const isShared = !events.some(({ reports }) => reports.some(namesNoTrace));
    await batches.write(projectId, {
      events,
      size: sizeOfEvents(events),
      isShared,
      priceAll,
      since,
    });
  } catch (error) {
    throw asOverload(error);
  }
};
