/**
 * Where what agents did is written: a gate, connections of its own, and one transaction for all that one request
 * says. It can be read once that is answered.
 */
import { randomInt } from 'node:crypto';
import { AppError } from '#domain/error.ts';
import { eventsOn } from '#observability/daily.ts';
import type { Priceable } from '#observability/pricing.ts';
import { addDailyUsage, usageSlots } from '../db/daily-usage.ts';
import type { Database, Statement, Transaction } from '../db/database.ts';
import { priceableOf } from '../db/observation-rows.ts';
import type { Values } from '../db/parameters.ts';
import { type ScoreWrite, writeScores } from '../db/scores.ts';
import { type TakenEvent, takeEvents } from '../db/taken-events.ts';
import { createTraceWeeks, type TraceWeeks } from '../db/trace-weeks.ts';
import type { PriceBook, ProjectPrices } from '../models/price-book.ts';
import type { Told } from './fold.ts';
import { createGate, type Gate, overloaded } from './gate.ts';
import { createMonth, type Month } from './month.ts';
import { createRightOfWay, type GiveWay, type RightOfWay } from './right-of-way.ts';
import { writeTold } from './write.ts';

export type TraceStore = {
  db: Database;
  weeks: TraceWeeks;
  gate: Gate<Saying>;
  rightOfWay: RightOfWay;
  month: Month;
  prices: PriceBook;
};

/** What one event says. */
export type SaidEvent = {
  /** What it is known by when it is sent again; null: it is not remembered, as to say it again changes nothing. */
  taken: TakenEvent | null;
  told: readonly Told[];
  scores: readonly ScoreWrite[];
};

/** What a request says, and by what its observations are priced. */
type Saying = { events: readonly SaidEvent[]; priceAll: ProjectPrices };

const most = {
  atOnce: 4,
  ofProject: 2,
  /** Both in events. */
  beside: 500,
  together: 1_000,
  besideMs: 2,
  waiting: 64,
  waitingOfProject: 48,
  waitMs: 4_000,
};

/** Of a statement that writes rows, while sessions are being opened: one that comes then waits for so many at most. */
const rowsBesideOpens = 50;

/** The transaction, which lets others go first: before each statement, and before what follows from its rows. */
const giving = (
  tx: Transaction,
  giveWay: GiveWay,
  { wasTaken }: Pick<RightOfWay, 'wasTaken'>,
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
  const fresh = await takeEvents(tx, projectId, given, week);
  return events.filter(({ taken }) => taken === null || fresh.has(taken));
};

type Writer = Pick<TraceStore, 'db' | 'weeks' | 'rightOfWay'>;

/** Writes what requests of a project say, in one transaction. */
const writeSayings = async (
  { db, weeks, rightOfWay }: Writer,
  projectId: string,
  sayings: readonly Saying[],
  place: number,
): Promise<void> => {
  const giveWay = rightOfWay.giving();
  await giveWay();
  const week = await weeks.current();
  // Whoever came last knows the models best.
  const priceAll = sayings.at(-1)?.priceAll ?? (async (_, items) => items.map(() => null));
  await db.transaction(async (given) => {
    const tx = giving(given, giveWay, rightOfWay);
    const all = sayings.flatMap(({ events }) => events);
    const fresh = await freshOf(tx, projectId, all, week);
    const told: Told[] = [];
    const scores: ScoreWrite[] = [];
    for (const event of fresh) {
      told.push(...event.told);
      scores.push(...event.scores);
    }
    const changes = await writeTold(tx, priceAll, projectId, told, week);
    await writeScores(tx, projectId, scores);
    if (fresh.length > 0) changes.push(eventsOn(Date.now(), fresh.length));
    await addDailyUsage(tx, projectId, changes, place % usageSlots);
  }, 'by_key');
};

/** Opens it on connections of its own. */
export const openTraceStore = (db: Database, prices: PriceBook): TraceStore => {
  const rightOfWay = createRightOfWay();
  const weeks = createTraceWeeks(db);
  const gate = createGate<Saying>(most, {
    write: (projectId, sayings, place) =>
      writeSayings({ db, weeks, rightOfWay }, projectId, sayings, place),
    sizeOf: ({ events }) => events.length,
    first: randomInt(usageSlots),
    isNarrow: () => rightOfWay.wasTaken(),
  });
  return { db, prices, rightOfWay, weeks, gate, month: createMonth(db) };
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
    // Patterns of strangers are looked for before anything is held, so that only their project waits for them.
    const priceAll = prices.of(projectId);
    await priceAll(db, priceablesIn(events));
    await gate.pass(projectId, { events, priceAll });
  } catch (error) {
    throw asOverload(error);
  }
};
