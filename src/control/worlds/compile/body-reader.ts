/**
 * Reads bodies of requests: small ones at once, and those that are large or hold very many values in
 * processes of their own, with limits on time and memory, so that no body holds up the loop that all
 * requests share. What comes back from there is small or text (`base/bodies/keep.ts`).
 */
import { AppError } from '#domain/error.ts';
import type { KeepOptions } from '../../base/bodies/keep.ts';
import { type ReadApart, type ReadBody, readSmall } from '../../base/bodies/read.ts';
import type { JobEnd } from './process.ts';
import type { PoolLimits, ProcessPool } from './process-pool.ts';

/** Bounds on the processes that read large bodies; they are started when there is one. */
export const readingLimits: PoolLimits = {
  processes: 2,
  queued: 64,
  timeLimitMs: 10_000,
  memoryMb: 512,
};

type BodyToRead = {
  /** Id of the operation that it was sent to. */
  operation: string;
  /** Finds who takes turns with others; asked only for a body that is read apart. */
  asker: () => Promise<string>;
  /** Undefined when there is none. */
  bytes: Uint8Array | undefined;
  /** The bytes that it may come to where it is still compressed: then it is inflated where it is read. */
  inflatesTo?: number | undefined;
  /** Ends the wait for a process. */
  signal: AbortSignal;
};

/**
 * Throws `invalid` for what is no JSON or takes too much to read, what is answered 413 for a body that holds too
 * much, and `exhausted` when too many large bodies wait. What does not fit the operation's schema comes back as problems.
 */
export type BodyReader = (body: BodyToRead, options: KeepOptions) => Promise<ReadBody>;

const words = { out_of_time: 'time', out_of_memory: 'memory' } as const;

/** What came of a job of reading; throws `invalid` when a limit ended it. */
const outcomeOf = (end: JobEnd): ReadBody => {
  if (end.kind === 'done') {
    const { tooMuch, ...read } = end.outcome as ReadApart;
    if (tooMuch !== undefined) throw Object.assign(new Error(tooMuch), { statusCode: 413 });
    return read;
  }
  const message = `the body takes more ${words[end.kind]} to read than there is for it`;
  throw new AppError('invalid', message);
};

const inWords = (error: unknown): unknown => {
  if (!(error instanceof AppError) || error.fields.length > 0) return error;
  if (error.code === 'exhausted') {
    return new AppError(
      'exhausted',
      'too many large bodies wait to be read; try again in a moment',
    );
  }
  if (error.code !== 'unavailable') return error;
  return new AppError('unavailable', 'the body was not read', { cause: error });
};

/** Makes the reader over the processes that large bodies are read in. */
export const createBodyReader = (processes: Pick<ProcessPool, 'run'>): BodyReader => {
  const readApart = async (
    { operation, asker, signal, inflatesTo }: BodyToRead,
    bytes: Uint8Array,
    options: KeepOptions,
  ): Promise<ReadBody> => {
    const job = { ...options, kind: 'read', operation, bytes, inflatesTo } as const;
    try {
      return outcomeOf(await processes.run(job, { project: await asker(), signal }));
    } catch (error) {
      throw inWords(error);
    }
  };
  return async (body, options) => {
    const { operation, bytes, inflatesTo } = body;
    if (bytes !== undefined && inflatesTo !== undefined) return readApart(body, bytes, options);
    const small = readSmall(operation, bytes, options);
    if (small !== undefined || bytes === undefined) {
      return small ?? { problems: [], body: undefined };
    }
    return readApart(body, bytes, options);
  };
};
