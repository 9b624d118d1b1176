/**
 * Routes for whoever runs the program. `/health` says that the process answers. `/ready` says that it can
 * serve: database, schema and blob store work and have room, and it was not told to stop. A fault of a blob store
 * that all replicas share is reported but makes none unready: calls need no blobs, and would have nowhere to go.
 *
 * `/ready?exclude=room` reports full disks and stays 200. It is for a probe that takes away all ways to a program
 * at once, like that of a pod: hosts, gateways and orchestrators then go on with open sessions.
 */
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { AppError, describeError } from '#domain/error.ts';
import { checkSchema } from '../../db/core/migrate.ts';
import type { Parts } from '../../parts.ts';
import { allowPages } from './methods.ts';

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

/** Checks without which open sessions go on. */
const excludable = ['room', 'blobs'];

/** The checks that a probe does not mind: `exclude`, as often as there are such. */
const readExcluded = (query: unknown): string[] => {
  const { exclude } = query as { exclude?: string | string[] };
  const names = exclude === undefined ? [] : [exclude].flat();
  for (const name of names) {
    if (excludable.includes(name)) continue;
    const message = `"${name}" is no check of /ready that can be excluded: ${excludable.join(', ')} are`;
    throw new AppError('invalid', message);
  }
  return names;
};

export type HealthParts = Pick<Parts, 'blobs' | 'db'> & {
  /** Whether the program was told to stop: it serves on, but balancers are to leave it alone. */
  isStopping(): boolean;
};

/** Version of the program, as its manifest has it. */
const { version } = JSON.parse(
  readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'),
) as { version: string };

/** Adds the route by which clients of the public API ask for the service's health, without a key. */
export const addPublicHealth = (app: FastifyInstance, publicPath: string): void => {
  app.route({
    method: ['GET', 'HEAD'],
    url: `${publicPath}/health`,
    config: { access: 'read' },
    handler: async (_, reply) => {
      allowPages(reply);
      return { status: 'OK', version };
    },
  });
};

/** Adds both routes. They tell nothing that needs a key. */
export const addHealthRoutes = (
  app: FastifyInstance,
  { blobs, db, isStopping }: HealthParts,
): void => {
  const checkRunning = async (): Promise<void> => {
    if (isStopping()) throw new AppError('unavailable', 'it was told to stop');
  };
  const checkRoom = async (): Promise<void> => {
    db.room.check();
    await blobs.checkRoom?.();
  };
  const checks: Check[] = [
    { name: 'running', isNeeded: true, run: checkRunning },
    { name: 'database', isNeeded: true, run: () => checkSchema(db) },
    { name: 'blobs', isNeeded: !blobs.isShared, run: () => blobs.check() },
    { name: 'room', isNeeded: true, run: checkRoom },
  ];
  app.get('/health', async () => ({ status: 'ok', version }));
  app.get('/ready', async ({ query }, reply) => {
    const excluded = readExcluded(query);
    const results = await Promise.all(checks.map(runCheck));
    const isReady = results.every(
      ({ name, isNeeded, told }) => !isNeeded || told === 'ok' || excluded.includes(name),
    );
    return reply.code(isReady ? 200 : 503).send({
      status: isReady ? 'ready' : 'not ready',
      checks: Object.fromEntries(results.map(({ name, told }) => [name, told])),
    });
  });
};
