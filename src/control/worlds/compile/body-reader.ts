/**
 * Parses request bodies. Small bodies are parsed at once. Bodies that are large or contain very many values are parsed
 * in separate processes with limits on time and memory, so that no body blocks the event loop that all requests share.
 * The results are small values or text (`base/bodies/keep.ts`).
 */
import { AppError } from '#domain/error.ts';
import type { KeepOptions } from '../../base/bodies/keep.ts';
import { type ReadApart, type ReadBody, readSmall } from '../../base/bodies/read.ts';
import type { JobEnd } from './process.ts';
import type { PoolLimits, ProcessPool } from './process-pool.ts';

/** Limits of the processes that parse large bodies. No process is started before the first large body arrives. */
export const readingLimits: PoolLimits = {
  processes: 2,
  queued: 64,
  timeLimitMs: 10_000,
  memoryMb: 512,
};

type BodyToRead = {
  /** Id of the operation to which the request was sent. */
  operation: string;
  /**
   * Returns the key under which the body waits in the fair queue. Called only for a body that is parsed in a process.
   */
  fairnessKey: () => Promise<string>;
  /** Bytes of the body; undefined if the request has no body. */
  bytes: Uint8Array | undefined;
  /** Maximum size of the inflated bytes, if the body is still compressed; it is then inflated in the process. */
  inflatesTo?: number | undefined;
  /** Signal that ends the wait for a process. */
  signal: AbortSignal;
};

/**
 * Parses a body. Violations of the operation's schema are returned as problems. Throws `invalid` if the body is no JSON
 * or takes too much time or memory to parse, an error with status 413 if it contains too much, and `exhausted` if too
 * many large bodies wait.
 */
export type BodyReader = (body: BodyToRead, options: KeepOptions) => Promise<ReadBody>;

const words = { out_of_time: 'time', out_of_memory: 'memory' } as const;

/** Returns the outcome of a parsing job. Throws `invalid` if the job was ended because it reached a limit. */
const outcomeOf = (end: JobEnd): ReadBody => {
  if (end.kind === 'done') {
    const { tooMuch, ...read } = end.outcome as ReadApart;
    if (tooMuch !== undefined) throw Object.assign(new Error(tooMuch), { statusCode: 413 });
    return read;
  }
  const message = `the body takes more ${words[end.kind]} to parse than is allowed: send a smaller body`;
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
  return new AppError('unavailable', 'the body was not parsed', { cause: error });
};

/** Creates the reader. It uses the given processes for large bodies. */
export const createBodyReader = (processes: Pick<ProcessPool, 'run'>): BodyReader => {
  const readApart = async (
    { operation, fairnessKey, signal, inflatesTo }: BodyToRead,
    bytes: Uint8Array,
    options: KeepOptions,
  ): Promise<ReadBody> => {
    const job = { ...options, kind: 'read', operation, bytes, inflatesTo } as const;
    try {
      return outcomeOf(await processes.run(job, { project: await fairnessKey(), signal }));
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
