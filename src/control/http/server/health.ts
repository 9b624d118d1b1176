/**
 * Health routes for operators and probes. `/health` reports that the process answers. `/ready` reports that it can
 * serve: the database, the schema and the blob store work, there is free disk space, and the program is not stopping.
 * If a blob store that all replicas share fails, the failure is reported but the replicas stay ready. Calls need no
 * blobs, and if the replicas were not ready, none would be left to serve calls.
 *
 * `/ready?exclude=room` reports full disks and still answers 200. It is for a probe that removes every route to a
 * program at once, such as a pod's readiness probe. Hosts, gateways and orchestrators can then continue open sessions.
 */
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { AppError, describeError } from '#domain/error.ts';
import { checkSchema } from '../../db/core/migrate.ts';
import type { Parts } from '../../parts.ts';
import { allowPages } from './methods.ts';

type Check = { name: string; isNeeded: boolean; run(): Promise<void> };
type Result = Pick<Check, 'name' | 'isNeeded'> & { status: string };

const runCheck = async ({ name, isNeeded, run }: Check): Promise<Result> => {
  try {
    await run();
    return { name, isNeeded, status: 'ok' };
  } catch (error) {
    return { name, isNeeded, status: describeError(error) };
  }
};

/** Checks that a probe may exclude. Open sessions can continue even if one of these checks fails. */
const excludable = ['room', 'blobs'];

/** Reads the checks that a probe wants ignored, from one or more `exclude` parameters. */
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
  /** Returns true if the program is stopping: it still serves, but load balancers should stop routing to it. */
  isStopping(): boolean;
};

/** Version of the program, from its manifest. */
const { version } = JSON.parse(
  readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'),
) as { version: string };

/** Adds the health route of the public API, which needs no key. */
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

/** Adds `/health` and `/ready`. They reveal nothing that needs a key. */
export const addHealthRoutes = (
  app: FastifyInstance,
  { blobs, db, isStopping }: HealthParts,
): void => {
  const checkRunning = async (): Promise<void> => {
    if (isStopping()) throw new AppError('unavailable', 'it is stopping');
  };
  const checkDiskSpace = async (): Promise<void> => {
    db.diskSpace.check();
    await blobs.checkDiskSpace?.();
  };
  const checks: Check[] = [
    { name: 'running', isNeeded: true, run: checkRunning },
    { name: 'database', isNeeded: true, run: () => checkSchema(db) },
    { name: 'blobs', isNeeded: !blobs.isShared, run: () => blobs.check() },
    { name: 'room', isNeeded: true, run: checkDiskSpace },
  ];
  app.get('/health', async () => ({ status: 'ok', version }));
  app.get('/ready', async ({ query }, reply) => {
    const excluded = readExcluded(query);
    const results = await Promise.all(checks.map(runCheck));
    const isReady = results.every(
      ({ name, isNeeded, status }) => !isNeeded || status === 'ok' || excluded.includes(name),
    );
    return reply.code(isReady ? 200 : 503).send({
      status: isReady ? 'ready' : 'not ready',
      checks: Object.fromEntries(results.map(({ name, status }) => [name, status])),
    });
  });
};
