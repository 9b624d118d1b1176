/**
 * The compile process, a program of its own: one job after the other from the control plane that
 * started it, until that one is gone. It has neither secrets nor an environment.
 *
 * A process and not a thread: a thread that reaches its heap limit in one large allocation takes the
 * whole program with it.
 */
import { AppError, describeError, type ErrorCode, type FieldProblem } from '#domain/error.ts';
import { WorldLacking } from './check-task.ts';
import { createJobs, type Job, type JobKind, type Outcomes } from './job.ts';

/**
 * What the process says: `ready` once, then one of the others for each job. After `lacks` the same job is
 * given again, with the world that it is for.
 */
export type Message =
  | { kind: 'ready' }
  | { kind: 'lacks' }
  | { kind: 'done'; outcome: Outcomes[JobKind]; cpuMs: number }
  | { kind: 'refused'; code: ErrorCode; message: string; fields: FieldProblem[] }
  | { kind: 'failed'; message: string };

const say = (message: Message): void => {
  process.send?.(message);
};

const runJob = createJobs();

const answer = (job: Job): Message => {
  const before = process.cpuUsage();
  try {
    const outcome = runJob(job);
    const { user, system } = process.cpuUsage(before);
    return { kind: 'done', outcome, cpuMs: (user + system) / 1_000 };
  } catch (error) {
    if (error instanceof WorldLacking) return { kind: 'lacks' };
    if (error instanceof AppError) {
      return { kind: 'refused', code: error.code, message: error.message, fields: error.fields };
    }
    return { kind: 'failed', message: (error as Error).stack ?? describeError(error) };
  }
};

// Who started it decides when it ends; the signals of a terminal reach both.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit());
process.on('message', (job: Job) => say(answer(job)));
say({ kind: 'ready' });
