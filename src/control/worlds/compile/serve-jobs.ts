/**
 * Runs jobs in the child process of `process.ts`. It runs one job after another for the control plane that started it,
 * and exits when the control plane is gone. It has neither secrets nor environment variables. It is a process and not a
 * thread, because a thread that reaches its heap limit in one large allocation ends the whole program.
 */
import { AppError, describeError, type ErrorCode, type FieldProblem } from '#domain/error.ts';

/**
 * Messages that the process sends: `ready` once, then one of the other messages for each job. After `lacks`, the
 * control plane sends the job again with the missing data.
 */
export type Message<Outcome> =
  | { kind: 'ready' }
  | { kind: 'lacks' }
  | { kind: 'done'; outcome: Outcome; cpuMs: number }
  | { kind: 'refused'; code: ErrorCode; message: string; fields: FieldProblem[] }
  | { kind: 'failed'; message: string };

/** Thrown by a job that needs data which the process does not have. */
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

/** Runs the jobs that the parent process sends. */
export const serveJobs = <AJob, Outcome>(
  runJob: (job: AJob) => Outcome | Promise<Outcome>,
): void => {
  const say = (message: Message<Outcome>): void => {
    process.send?.(message);
  };
  // The parent decides when this process ends; a terminal sends its signals to both.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  process.on('disconnect', () => process.exit());
  process.on('message', async (job: AJob) => say(await answer(runJob, job)));
  say({ kind: 'ready' });
};
