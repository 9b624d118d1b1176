/**
 * Size budgets for request bodies, per caller and for all callers together. Budget is taken before the first byte of a
 * body is read. A client's large body holds its budget until its request is done, so that bodies that wait to be parsed
 * or compiled are also limited by bytes. A host's large body holds its budget only until the body is parsed, because a
 * host's request stays open until the host's next call arrives. Small bodies have a separate budget, held until they
 * are parsed, so that large bodies never block them.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { createByteBudget } from '../../base/fairness/byte-budget.ts';
import { quotaError } from '../../base/fairness/quotas.ts';

export type UploadLimits = {
  /** Budgets for large bodies, in MiB, of all callers together and of one caller; small bodies have half as much. */
  allMib: number;
  oneMib: number;
};

/** Size budget that one request's body holds. */
export type Upload = {
  /**
   * Releases the budget of a body that has been parsed. A large body may keep its budget until the
   * request is done.
   */
  read(): void;
  /** Runs the request's work, and releases the budget when it ends. */
  during<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Releases the budget unless work is under way. Called when the answer is sent or the client disconnects. */
  end(): void;
};

export type ExpectedUpload = {
  holder: string;
  bytes: number;
  /** True if a large body holds its budget until its request is done. */
  isKept: boolean;
};

export type Uploads = {
  /** Takes budget; throws `exhausted` if the caller holds too much, and `unavailable` if all callers together do. */
  begin(upload: ExpectedUpload): Upload;
  /** Returns the number of bytes of budget that are taken. */
  bytes(): number;
};

const mib = 1024 * 1024;

/**
 * Minimum number of bytes that a request counts for, however small its body, because it costs a connection and buffers.
 */
const leastBytes = 16 * 1024;

const retryAfterMs = 1_000;

const refusal = (bound: 'one' | 'all', oneMib: number): AppError =>
  bound === 'one'
    ? quotaError({ quota: 'upload_mib', limit: oneMib, retryAfterMs })
    : new AppError(
        'unavailable',
        'too much is sent to the service at once; try again in a moment',
        {
          detail: { retryAfterMs },
        },
      );

export const isLargeBody = (bytes: number): boolean => bytes > limits.directBodyBytes;

/**
 * Returns the number of bytes that a request may send: its announced length, or the operation's maximum for a chunked
 * body.
 */
export const announcedBytes = (headers: IncomingHttpHeaders, most: number): number => {
  if (headers['transfer-encoding'] !== undefined) return most;
  const length = Number(headers['content-length'] ?? 0);
  // A longer body is refused before it is read.
  return length > most ? 0 : length;
};

/** Creates the budgets that all listeners of a control plane share. */
export const createUploads = ({ allMib, oneMib }: UploadLimits): Uploads => {
  const large = createByteBudget({ one: oneMib * mib, all: allMib * mib });
  const small = createByteBudget({ one: (oneMib * mib) / 2, all: (allMib * mib) / 2 });

  return {
    begin({ holder, bytes, isKept }) {
      const isLarge = isLargeBody(bytes);
      const taken = (isLarge ? large : small).take(holder, Math.max(bytes, leastBytes));
      if (typeof taken === 'string') throw refusal(taken, isLarge ? oneMib : oneMib / 2);
      let isAtWork = false;
      return {
        read() {
          if (!isLarge || !isKept) taken.giveBack();
        },
        async during(work) {
          isAtWork = true;
          try {
            return await work();
          } finally {
            taken.giveBack();
          }
        },
        end() {
          if (!isAtWork) taken.giveBack();
        },
      };
    },
    bytes: () => large.load().bytes + small.load().bytes,
  };
};
