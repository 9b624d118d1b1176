/**
 * Measures how long one project waits while two others send bodies that are made to take long. It measures the
 * project's ingestion of 300 KB, `/health`, and opens of sessions, with ten hostile bodies a second and without them,
 * in turns. The hostile bodies are of some KB that inflate to 16 MB of empty spans, resources or fields. Now and then a
 * body is within the limits, with 49,000 empty spans or with 2,000 valid ones.
 */
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { basicAuthorization } from '#wire/client.ts';
import { protobufExport } from '../../test/support/control/otlp.ts';
import { createNotes } from '../../test/support/control/sessions.ts';
import { execute } from '../../test/support/database/sql.ts';
import { type Network, startNetwork } from '../../test/support/programs/network.ts';
import { type Figure, percentile } from './figure.ts';
import { at, connect, type Event, eventOf } from './ingest-tell.ts';
import { openOnce } from './open-beside-import.ts';

/** Input of the thread that sends hostile bodies. */
export type Hostile = { url: string; authorizations: string[]; bodies: Uint8Array[] };

const turns = 6;
const runsOfTurn = 12;
const victimBytes = 300 * 1024;
/** Target: the longest allowed time with hostile bodies, as a multiple of the time without them. */
const target = 3;

const addProject = async (databaseUrl: string): Promise<string> => {
  const [publicKey, secretKey] = [`pk-${randomUUID()}`, `sk-${randomUUID()}`];
  const id = `prj-${randomUUID()}`;
  await execute(
    databaseUrl,
    `insert into projects (id, organization_id, slug, name)
     select '${id}', id, '${id}', 'hostile' from organizations limit 1`,
  );
  const hash = createHash('sha256').update(secretKey).digest('hex');
  await execute(
    databaseUrl,
    `insert into keys (id, organization_id, project_id, public_key, secret_hash)
     select '${publicKey}', organization_id, id, '${publicKey}', '\\x${hash}' from projects where id = '${id}'`,
  );
  return basicAuthorization(publicKey, secretKey);
};

/** Wraps a message in fields, the innermost first, with its length. */
const within = (bytes: Uint8Array, ...fields: number[]): Uint8Array =>
  fields.reduce<Uint8Array>((held, field) => {
    const length: number[] = [];
    for (let left = held.length; ; left = Math.floor(left / 128)) {
      if (left < 128) {
        length.push(left);
        break;
      }
      length.push((left % 128) + 128);
    }
    return Buffer.concat([Buffer.from([(field << 3) | 2, ...length]), held]);
  }, bytes);

const hostileBodies = (): Uint8Array[] => {
  const empties = (field: number) => Buffer.alloc(15_900_000, Buffer.from([(field << 3) | 2, 0]));
  const invalid = Buffer.alloc(2 * 49_000, Buffer.from([0x12, 0]));
  const spans = Array.from({ length: 2_000 }, (_, number) => ({
    traceId: '3'.repeat(32),
    spanId: (number + 1).toString(16).padStart(16, '0'),
  }));
  const bombs = [within(empties(2), 2, 1), empties(1), within(empties(14), 2, 2, 1)];
  const all = [...bombs, ...bombs, ...bombs, within(invalid, 2, 1), protobufExport({ spans })];
  return all.map((bytes) => gzipSync(bytes));
};

const besideHostile = async (hostile: Hostile): Promise<() => Promise<Record<number, number>>> => {
  const worker = new Worker(new URL('./ingest-hostile-worker.ts', import.meta.url), {
    workerData: hostile,
  });
  await once(worker, 'message');
  return async () => {
    const ended = once(worker, 'message');
    worker.postMessage('stop');
    const [statuses] = await ended;
    return statuses as Record<number, number>;
  };
};

const names = ['ingestion', 'health', 'open'] as const;
type Samples = Record<(typeof names)[number], number[]>;

const noSamples = (): Samples => ({ ingestion: [], health: [], open: [] });

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

/** Builds a batch of 300 KB of events. */
const batchOf = (round: string): Event[] =>
  Array.from({ length: 100 }, (_, number) =>
    eventOf('span-create', `${round}-${number}`, {
      traceId: round,
      startTime: at,
      input: 'x'.repeat(victimBytes / 100),
    }),
  );

const sampleTurn = async (network: Network, into: Samples, round: string): Promise<void> => {
  const { tell } = connect(network);
  const health = async () => {
    const answer = await fetch(`${network.url}/health`);
    if (!answer.ok) throw new Error(`/health: ${answer.status}`);
  };
  for (let run = 0; run < runsOfTurn; run += 1) {
    into.ingestion.push(await timed(() => tell(batchOf(`${round}-${run}`))));
    into.health.push(await timed(health));
    into.open.push(...(await openOnce(network)));
  }
};

/** Measures on a network of its own. The floor is the same without hostile bodies. */
export const benchIngestHostile = async (
  databaseUrl: string,
  say: (line: string) => void,
): Promise<Figure[]> => {
  const network = await startNetwork({ databaseUrl, poolSize: 2, poolMax: 2 });
  try {
    await createNotes(network.client);
    const authorizations = [await addProject(databaseUrl), await addProject(databaseUrl)];
    const hostile = { url: network.url, authorizations, bodies: hostileBodies() };
    const [quiet, attacked] = [noSamples(), noSamples()];
    await sampleTurn(network, noSamples(), 'warm-up');
    for (let turn = 0; turn < turns; turn += 1) {
      await sampleTurn(network, quiet, `quiet-${turn}`);
      const stop = await besideHostile(hostile);
      await sampleTurn(network, attacked, `attacked-${turn}`);
      say(`  hostile bodies were answered ${JSON.stringify(await stop())}`);
    }
    return names.map((name) => ({
      name: `ingest.hostile.${name}`,
      value: percentile(attacked[name], 0.95),
      unit: 'ms',
      floor: percentile(quiet[name], 0.95),
      peer: null,
      target: target * percentile(quiet[name], 0.95),
      better: 'lower',
    }));
  } finally {
    await network.stop();
  }
};
