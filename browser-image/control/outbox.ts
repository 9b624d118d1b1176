/**
 * Bounded queue of data that the world host has not accepted yet: ledger entries, in order, and answers to orders.
 * Entries beyond the limit are dropped, and the next accepted entry says how many were dropped.
 */
import type { BrowserAnswer, BrowserEntry, BrowserReport } from '#wire/browser-link/exchange.ts';

const mostWaiting = 1_000;
const mostAtOnce = 100;

/** Part of a report that the outbox fills. */
export type OutboxReport = Pick<BrowserReport, 'first' | 'entries' | 'answers'>;

export class Outbox {
  #entries: BrowserEntry[] = [];
  /** Number of the first queued entry. */
  #first = 0;
  /** Number of entries dropped since the last queued one. */
  #dropped = 0;
  #answers: BrowserAnswer[] = [];

  isEmpty(): boolean {
    return this.#entries.length === 0 && this.#answers.length === 0;
  }

  /** Queues an entry; returns false if the queue is full and the entry is dropped. */
  add(entry: BrowserEntry): boolean {
    if (this.#entries.length >= mostWaiting) {
      this.#dropped += 1;
      return false;
    }
    const detail = this.#dropped === 0 ? entry.detail : { ...entry.detail, leftOut: this.#dropped };
    this.#dropped = 0;
    this.#entries.push({ ...entry, detail });
    return true;
  }

  answer(answer: BrowserAnswer): void {
    this.#answers = [...this.#answers, answer];
  }

  /** Returns the next entries and answers to send. */
  next(): OutboxReport {
    return {
      first: this.#first,
      entries: this.#entries.slice(0, mostAtOnce),
      answers: this.#answers,
    };
  }

  /** Removes what the world host has accepted: all entries before number `taken`, and the answers of the report. */
  remove(taken: number, { answers }: OutboxReport): void {
    this.#entries = this.#entries.slice(Math.max(0, taken - this.#first));
    this.#first = Math.max(this.#first, taken);
    this.#answers = this.#answers.filter((one) => !answers.includes(one));
  }
}
