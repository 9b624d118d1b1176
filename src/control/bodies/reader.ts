/**
 * Reads bodies of requests: small ones at once, and those that are large or hold very many values in
 * processes of their own, with limits on time and memory, so that no body holds up the loop that all
 * requests share. What comes back from there is small or text (`keep.ts`).
 */
import { AppError } from '#domain/error.ts';
import type { CompileLimits, Compiler } from '../worlds/compiler.ts';
import type { KeepOptions } from './keep.ts';
import { type ReadBody, readSmall } from './read.ts';

/** Bounds on the processes that read large bodies; they are started when there is one. */
export const readingLimits: CompileLimits = {
  processes: 2,
  queued: 64,
  timeLimitMs: 10_000,
  memoryMb: 512,
  secondsPerMinute: 60,
};

export type BodyToRead = {
  /** Id of the operation that it was sent to. */
  operation: string;
  /** Undefined when there is none. */
  bytes: Uint8Array | undefined;
  /** Whose body it is: bodies of one project, or of one host, wait in a line of their own. */
  asker: string;
  /** Ends the wait for a process. */
  signal: AbortSignal;
};

/**
 * Throws `invalid` for what is no JSON or takes too much to read, and `exhausted` when too many large
 * bodies wait. What does not fit the operation's schema comes back as problems.
 */
export type BodyReader = (body: BodyToRead, options: KeepOptions) => Promise<ReadBody>;

const tooMuch = { out_of_time: 'time', out_of_memory: 'memory' } as const;

const refuseLimit = (code: string | undefined): AppError => {
  const what = code === 'out_of_memory' ? tooMuch.out_of_memory : tooMuch.out_of_time;
  return new AppError('invalid', `the body takes more ${what} to read than there is for it`);
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
export const createBodyReader = (processes: Pick<Compiler, 'run'>): BodyReader => {
  const readApart = async (
    { operation, bytes, asker, signal }: BodyToRead & { bytes: Uint8Array },
    { isKeyed }: KeepOptions,
  ): Promise<ReadBody> => {
    try {
      const job = { kind: 'read', operation, bytes, isKeyed } as const;
      const outcome = await processes.run(job, { project: asker, signal });
      if (outcome.ok) return outcome.read;
      throw refuseLimit(outcome.problems[0]?.code);
    } catch (error) {
      throw inWords(error);
    }
  };
  return async (body, options) => {
    const { operation, bytes } = body;
    const small = readSmall(operation, bytes, options);
    if (small !== undefined || bytes === undefined)
      return small ?? { problems: [], body: undefined };
    return readApart({ ...body, bytes }, options);
  };
};
