/**
 * Where what agents did is written: a gate, connections of its own, and one transaction for all that one request
 * says. It can be read once that is answered.
 */
import { randomInt } from 'node:crypto';
import { AppError } from '#domain/error.ts';
import { eventsOn } from '#observability/daily.ts';
import type { State } from '#observability/state.ts';
import { addDailyUsage, usageSlots } from '../db/daily-usage.ts';
import type { Database, Statement, Transaction } from '../db/database.ts';
import { priceableOf } from '../db/observation-rows.ts';
import type { Values } from '../db/parameters.ts';
import { type ScoreWrite, writeScores } from '../db/scores.ts';
import { createTraceWeeks, type TraceWeeks } from '../db/trace-weeks.ts';
import type { PriceBook } from '../models/price-book.ts';
import type { Told } from './fold.ts';
import { createGate, type Gate, overloaded } from './gate.ts';
import { createMonth, type Month } from './month.ts';
import { createRightOfWay, type GiveWay, type RightOfWay } from './right-of-way.ts';
import { writeTold } from './write.ts';

export type TraceStore = {
  db: Database;
  weeks: TraceWeeks;
  gate: Gate;
  rightOfWay: RightOfWay;
  month: Month;
  prices: PriceBook;
};

/** Requests that are written at once, those that wait for it, and for how long. */
const mostBatches = { atOnce: 4, waiting: 64, waitMs: 4_000 };

/** Opens it on connections of its own. */
export const openTraceStore = (db: Database, prices: PriceBook): TraceStore => {
  const rightOfWay = createRightOfWay();
  const isNarrow = () => rightOfWay.wasTaken();
  return {
    db,
    prices,
    rightOfWay,
    weeks: createTraceWeeks(db),
    gate: createGate(mostBatches, { first: randomInt(usageSlots), isNarrow }),
    month: createMonth(db),
  };
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

/** A refusal for want of room in terms that clients try again after; what else went wrong as it is. */
export const asOverload = (error: unknown): unknown =>
  error instanceof AppError && error.code === 'exhausted' ? overloaded(error) : error;

/** What a request says, and how many events that are. */
export type Saying = { told: readonly Told[]; scores: readonly ScoreWrite[]; events: number };

const observationsIn = (told: readonly Told[]): State[] =>
  told.flatMap((one) => (one.kind === 'observation' ? [one.state] : []));

/**
 * Writes what a request says, of `told` as much as `choose` says. `choose` looks it over in the transaction first, such as for events that are known.
 * Throws `unavailable` when nothing was written, for want of room.
 */
export const writeSaying = async (
  { db, weeks, gate, prices, rightOfWay }: TraceStore,
  projectId: string,
  told: readonly Told[],
  choose: (tx: Transaction, week: number) => Saying | Promise<Saying>,
): Promise<void> => {
  try {
    // Patterns of strangers are looked for before anything is held, so that only their project waits for them.
    const priceAll = prices.of(projectId);
    await priceAll(db, observationsIn(told).map(priceableOf));
    await gate.pass(async (place) => {
      const giveWay = rightOfWay.giving();
      await giveWay();
      const week = await weeks.current();
      await db.transaction(async (given) => {
        const tx = giving(given, giveWay, rightOfWay);
        const { told, scores, events } = await choose(tx, week);
        const changes = await writeTold(tx, priceAll, projectId, told, week);
        await writeScores(tx, projectId, scores);
        if (events > 0) changes.push(eventsOn(Date.now(), events));
        await addDailyUsage(tx, projectId, changes, place % usageSlots);
      }, 'by_key');
    });
  } catch (error) {
    throw asOverload(error);
  }
};
