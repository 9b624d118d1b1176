/**
 * Room for the bodies of requests, taken before the first byte of one is read: by each caller and by
 * all. A client's large body has its room until its request has been done, so that what waits to be read or
 * compiled is bounded by bytes, too; a host's until it has been read, because a host holds its answer's
 * request while it waits for its next call. Small ones have room of their own until they have been read:
 * large ones never keep them out.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { createByteBudget } from '../../base/fairness/byte-budget.ts';
import { quotaError } from '../../base/fairness/quotas.ts';

export type UploadLimits = {
  /** MiB of large bodies at once, of all callers and of one; of small ones there may be half as many. */
  allMib: number;
  oneMib: number;
};

/** The room of one request's body. */
export type Upload = {
  /** The body has been read; of one that is not kept nothing more is counted. */
  read(): void;
  /** Does the request's work, and gives the room back when it has ended. */
  during<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Gives it back, unless the work is under way: the answer was sent, or nobody waits for it. */
  end(): void;
};

export type UploadToCome = {
  asker: string;
  bytes: number;
  /** Whether a large one counts until its request has been done. */
  isKept: boolean;
};

export type Uploads = {
  /** Takes room; throws `exhausted` when the caller has too much, and `unavailable` when all have. */
  begin(upload: UploadToCome): Upload;
  /** Bytes that are taken. */
  bytes(): number;
};

const mib = 1024 * 1024;

/** What a request counts for at least, however small its body: it is a connection and its buffers. */
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

/** How much a request may send: what it says, or all that its operation takes when it does not say. */
export const announcedBytes = (headers: IncomingHttpHeaders, most: number): number => {
  if (headers['transfer-encoding'] !== undefined) return most;
  const length = Number(headers['content-length'] ?? 0);
  // A longer one is refused before it is read.
  return length > most ? 0 : length;
};

/** Makes the room that all addresses of a control plane share. */
export const createUploads = ({ allMib, oneMib }: UploadLimits): Uploads => {
  const large = createByteBudget({ one: oneMib * mib, all: allMib * mib });
  const small = createByteBudget({ one: (oneMib * mib) / 2, all: (allMib * mib) / 2 });

  return {
    begin({ asker, bytes, isKept }) {
      const isLarge = isLargeBody(bytes);
      const taken = (isLarge ? large : small).take(asker, Math.max(bytes, leastBytes));
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
