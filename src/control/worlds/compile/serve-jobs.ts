/**
 * The other side of `process.ts`: a program that does one job after the other for the control plane that
 * started it, until that one is gone. It has neither secrets nor an environment.
 *
 * A process and not a thread: a thread that reaches its heap limit in one large allocation takes the
 * whole program with it.
 */
import { AppError, describeError, type ErrorCode, type FieldProblem } from '#domain/error.ts';

/**
 * What the process says: `ready` once, then one of the others for each job. After `lacks` the same job is
 * given again, with what it needs.
 */
export type Message<Outcome> =
  | { kind: 'ready' }
  | { kind: 'lacks' }
  | { kind: 'done'; outcome: Outcome; cpuMs: number }
  | { kind: 'refused'; code: ErrorCode; message: string; fields: FieldProblem[] }
  | { kind: 'failed'; message: string };

/** Thrown by a job that needs what the process does not hold. */
export class Lacking extends Error {}

const answer = async <AJob, Outcome>(
  runJob: (job: AJob) => Outcome | Promise<Outcome>,
  job: AJob,
): Promise<Message<Outcome>> => {
  const before = process.cpuUsage();
  try {
    const outcome = await runJob(job);
    const { user, system } = process.cpuUsage(before);
    return { kind: 'done', outcome, cpuMs: (user + system) / 1_000 };
  } catch (error) {
    if (error instanceof Lacking) return { kind: 'lacks' };
    if (error instanceof AppError) {
      return { kind: 'refused', code: error.code, message: error.message, fields: error.fields };
    }
    return { kind: 'failed', message: (error as Error).stack ?? describeError(error) };
  }
};

/** Does the jobs that this process is given. */
export const serveJobs = <AJob, Outcome>(
  runJob: (job: AJob) => Outcome | Promise<Outcome>,
): void => {
  const say = (message: Message<Outcome>): void => {
    process.send?.(message);
  };
  // Who started it decides when it ends; the signals of a terminal reach both.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  process.on('disconnect', () => process.exit());
  process.on('message', async (job: AJob) => say(await answer(runJob, job)));
  say({ kind: 'ready' });
};
