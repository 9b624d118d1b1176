/**
 * Routes for whoever runs the program: `/health` says that the process answers, `/ready` that it can
 * serve, because database (its disk, too), schema and blob store do, and that it is not about to end. A blob store that
 * all replicas share is told of and makes none unready: calls need no blobs, and would have nowhere to go.
 */
import type { FastifyInstance } from 'fastify';
import { AppError, describeError } from '#domain/error.ts';
import { checkSchema } from '../db/migrate.ts';
import type { Parts } from '../parts.ts';

type Check = { name: string; isNeeded: boolean; run(): Promise<void> };
type Result = Pick<Check, 'name' | 'isNeeded'> & { told: string };

const runCheck = async ({ name, isNeeded, run }: Check): Promise<Result> => {
  try {
    await run();
    return { name, isNeeded, told: 'ok' };
  } catch (error) {
    return { name, isNeeded, told: describeError(error) };
  }
};

export type HealthParts = Pick<Parts, 'blobs' | 'db'> & {
  /** Whether the program was told to stop: it serves on, but balancers are to leave it alone. */
  isEnding(): boolean;
};

/** Adds both routes. They tell nothing that needs a key. */
export const addHealthRoutes = (
  app: FastifyInstance,
  { blobs, db, isEnding }: HealthParts,
): void => {
  const checkRunning = async (): Promise<void> => {
    if (isEnding()) throw new AppError('unavailable', 'it was told to stop');
  };
  const checkDatabase = async (): Promise<void> => {
    await checkSchema(db);
    db.checkRoom();
  };
  const checks: Check[] = [
    { name: 'running', isNeeded: true, run: checkRunning },
    { name: 'database', isNeeded: true, run: checkDatabase },
    { name: 'blobs', isNeeded: !blobs.isShared, run: () => blobs.check() },
  ];
  app.get('/health', async () => ({ status: 'ok' }));
  app.get('/ready', async (_, reply) => {
    const results = await Promise.all(checks.map(runCheck));
    const isReady = results.every(({ isNeeded, told }) => !isNeeded || told === 'ok');
    return reply.code(isReady ? 200 : 503).send({
      status: isReady ? 'ready' : 'not ready',
      checks: Object.fromEntries(results.map(({ name, told }) => [name, told])),
    });
  });
};
