/**
 * Where what agents did is written: a gate, connections of its own, and one transaction for all that a request says,
 * and others that came with it. It can be read once that is answered.
 */
import { randomInt } from 'node:crypto';
import { AppError } from '#domain/error.ts';
import { eventsOn } from '#observability/daily.ts';
import type { Priceable } from '#observability/pricing.ts';
import {
  createOpenPriority,
  type GiveWay,
  type OpenPriority,
} from '../../base/fairness/open-priority.ts';
import type { Database, Statement, Transaction } from '../../db/core/database.ts';
import { isOfLock } from '../../db/core/errors.ts';
import type { Values } from '../../db/core/parameters.ts';
import { addDailyUsage, usageSlots } from '../../db/observability/daily-usage.ts';
import { priceableOf } from '../../db/observability/observation-rows.ts';
import { type ScoreWrite, writeScores } from '../../db/observability/scores.ts';
import { noteEvents, type SeenEvent } from '../../db/observability/seen-events.ts';
import { createTraceWeeks, type TraceWeeks } from '../../db/observability/trace-weeks.ts';
import type { PriceBook, ProjectPrices } from '../models/price-book.ts';
import type { Told } from './fold.ts';
import { lockingOf } from './locking.ts';
import { createMonth, type Month } from './monthly-limit.ts';
import { sizeOfEvents } from './size.ts';
import { writeTold } from './write.ts';
import { createGate, type Gate, overloaded, type Turn } from './write-batches.ts';

export type TraceStore = {
  db: Database;
  weeks: TraceWeeks;
  gate: Gate<Saying>;
  openPriority: OpenPriority;
  month: Month;
  prices: PriceBook;
};

/** What one event says. */
export type SaidEvent = {
  /** What it is known by when it is sent again; null: it is not remembered, as to say it again changes nothing. */
  taken: SeenEvent | null;
  told: readonly Told[];
  scores: readonly ScoreWrite[];
};

/** What a request says, and by what its observations are priced. */
type Saying = {
  events: readonly SaidEvent[];
  /** How much it is (size.ts). */
  size: number;
  /**
   * Whether it names the traces of all its observations. One that it does not name has a trace of its own, which nobody
   * else sees until it is written: it would be there twice if another named its trace meanwhile. So the lock is not shared.
   */
  isShared: boolean;
  /** Knows the models as they were at some time after `since`, in milliseconds. */
  priceAll: ProjectPrices;
  since: number;
};

const most = {
  atOnce: 4,
  ofProject: 2,
  /** Both in events of up to 8,192 characters. */
  beside: 500,
  together: 1_000,
  besideMs: 2,
  waiting: 64,
  waitingOfProject: 48,
  waitMs: 4_000,
  againMs: 2_000,
};

/** Of a statement that writes rows, while sessions are being opened: one that comes then waits for so many at most. */
const rowsBesideOpens = 50;

/** The transaction, which lets others go first: before each statement, and before what follows from its rows. */
const giving = (
  tx: Transaction,
  giveWay: GiveWay,
  { wasTaken }: Pick<OpenPriority, 'wasTaken'>,
): Transaction => ({
  get rowsAtOnce() {
    return wasTaken() ? rowsBesideOpens : Number.POSITIVE_INFINITY;
  },
  async query<Row>(statement: Statement, values: Values) {
    await giveWay();
    const rows = await tx.query<Row>(statement, values);
    await giveWay();
    return rows;
  },
  async copyIn(name, text, bytes) {
    await giveWay();
    await tx.copyIn(name, text, bytes);
    await giveWay();
  },
});

/** Those that were not taken before. */
const freshOf = async (
  tx: Transaction,
  projectId: string,
  events: readonly SaidEvent[],
  week: number,
): Promise<readonly SaidEvent[]> => {
  const given = events.flatMap(({ taken }) => taken ?? []);
  if (given.length === 0) return events;
  const fresh = await noteEvents(tx, projectId, given, week);
  return events.filter(({ taken }) => taken === null || fresh.has(taken));
};

type Writer = Pick<TraceStore, 'db' | 'weeks' | 'openPriority'>;

const namesNoTrace = (one: Told): boolean => one.kind === 'observation' && one.traceId === null;

/** Prices by the models as the last of them came to know them: they may tell of what was made for them. */
const pricesOf = (sayings: readonly Saying[]): ProjectPrices =>
  sayings.reduce((one, other) => (other.since > one.since ? other : one)).priceAll;

/** Writes what requests of a project say, in one transaction. */
const writeSayings = async (
  { db, weeks, openPriority }: Writer,
  projectId: string,
  sayings: readonly Saying[],
  turn: Turn,
): Promise<void> => {
  const giveWay = openPriority.giving();
  await giveWay();
  const week = await weeks.current();
  const all = sayings.flatMap(({ events }) => events);
  const write = async (given: Transaction): Promise<void> => {
    const tx = giving(given, giveWay, openPriority);
    const fresh = await freshOf(tx, projectId, all, week);
    const told: Told[] = [];
    const scores: ScoreWrite[] = [];
    for (const event of fresh) {
      told.push(...event.told);
      scores.push(...event.scores);
    }
    const changes = await writeTold(tx, pricesOf(sayings), projectId, told, week);
    await writeScores(tx, projectId, scores);
    if (fresh.length > 0) changes.push(eventsOn(Date.now(), fresh.length));
    await addDailyUsage(tx, projectId, changes, turn.place % usageSlots);
  };
  const isShared = sayings.every((one) => one.isShared);
  await db.transaction(write, 'by_key', lockingOf(projectId, { ...turn, isShared }));
};

/** Whether a failure is of what was written, or of what others held of that: so of one of those written together. */
const isOfItems = (error: unknown): boolean =>
  !(error instanceof AppError) || ['invalid', 'timeout'].includes(error.code) || isOfLock(error);

/** Opens it on connections of its own. */
export const openTraceStore = (
  db: Database,
  prices: PriceBook,
  openPriority: OpenPriority = createOpenPriority(),
): TraceStore => {
  const weeks = createTraceWeeks(db);
  const gate = createGate<Saying>(most, {
    write: (projectId, sayings, turn) =>
      writeSayings({ db, weeks, openPriority }, projectId, sayings, turn),
    sizeOf: ({ size }) => size,
    kindOf: ({ isShared }) => isShared,
    isOfItems,
    first: randomInt(usageSlots),
    isNarrow: () => openPriority.wasTaken(),
  });
  return { db, prices, openPriority, weeks, gate, month: createMonth(db) };
};

/** A refusal for want of room in terms that clients try again after; what else went wrong as it is. */
export const asOverload = (error: unknown): unknown =>
  error instanceof AppError && error.code === 'exhausted' ? overloaded(error) : error;

const priceablesIn = (events: readonly SaidEvent[]): Priceable[] => {
  const items: Priceable[] = [];
  for (const { told } of events) {
    for (const one of told) if (one.kind === 'observation') items.push(priceableOf(one.state));
  }
  return items;
};

/** Writes what a request says. Throws `unavailable` when nothing was written, for want of room. */
export const writeSaying = async (
  { db, gate, prices }: TraceStore,
  projectId: string,
  events: readonly SaidEvent[],
): Promise<void> => {
  try {
    // Patterns of strangers are looked for before anything is held, so that only their project waits for them; but for
    // those of models that were made since, when another request of the project came with this one.
    const since = performance.now();
    const priceAll = prices.of(projectId);
    await priceAll(db, priceablesIn(events));
    const isShared = !events.some(({ told }) => told.some(namesNoTrace));
    await gate.pass(projectId, { events, size: sizeOfEvents(events), isShared, priceAll, since });
  } catch (error) {
    throw asOverload(error);
  }
};
