/**
 * Routes for whoever runs the program: `/health` says that the process answers, `/ready` that it can
 * serve, because database, schema and blob store do.
 */
import type { FastifyInstance } from 'fastify';
import { describeError } from '#domain/error.ts';
import { checkSchema } from '../db/migrate.ts';
import type { Parts } from '../parts.ts';

type Check = { name: string; run(): Promise<void> };

const runCheck = async ({ name, run }: Check): Promise<[string, string]> => {
  try {
    await run();
    return [name, 'ok'];
  } catch (error) {
    return [name, describeError(error)];
  }
};

/** Adds both routes. They tell nothing that needs a key. */
export const addHealthRoutes = (
  app: FastifyInstance,
  { blobs, db }: Pick<Parts, 'blobs' | 'db'>,
): void => {
  const checks: Check[] = [
    { name: 'database', run: () => checkSchema(db) },
    { name: 'blobs', run: () => blobs.check() },
  ];
  app.get('/health', async () => ({ status: 'ok' }));
  app.get('/ready', async (_, reply) => {
    const results = await Promise.all(checks.map(runCheck));
    const isReady = results.every(([, result]) => result === 'ok');
    return reply.code(isReady ? 200 : 503).send({
      status: isReady ? 'ready' : 'not ready',
      checks: Object.fromEntries(results),
    });
  });
};
