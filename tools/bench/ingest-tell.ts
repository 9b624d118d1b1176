/**
 * The API as agents use it to report and read telemetry. Reports during a measurement, and measurements of reads, run
 * in threads of their own, so that they do not slow the process that waits for a session.
 */
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { Worker } from 'node:worker_threads';
import { basicAuthorization } from '#wire/client.ts';

const perBatch = 200;
const senders = 4;

export type Event = { id: string; type: string; timestamp: string; body: object };

export const at = new Date(Date.UTC(2026, 5, 1)).toISOString();

export const eventOf = (type: string, id: string, body: object): Event => ({
  id: `${type}-${id}`,
  type,
  timestamp: at,
  body: { id, ...body },
});

/** Address of the service, and the keys of one of its projects. */
export type Service = { url: string; publicKey: string; secretKey: string };

/** Connects to the API as an SDK does. */
export const connect = ({ url, publicKey, secretKey }: Service) => {
  const headers = {
    authorization: basicAuthorization(publicKey, secretKey),
    'content-type': 'application/json',
  };
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${url}/api/public${path}`, { method, headers, ...init });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
    return JSON.parse(text);
  };
  const tell = async (batch: Event[]): Promise<void> => {
    const { errors } = (await ask('POST', '/ingestion', { batch })) as { errors: unknown[] };
    if (errors.length > 0) throw new Error(JSON.stringify(errors[0]));
  };
  const agent = new Agent({ keepAlive: true });
  /** Reads an answer to its last byte and returns its length. It is not parsed, since that is the client's own time. */
  const readWhole = (path: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const request = get(`${url}/api/public${path}`, { agent, headers }, (answer) => {
        let bytes = 0;
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
        });
        answer.on('error', reject);
        answer.on('end', () => {
          if (answer.statusCode === 200) resolve(bytes);
          else reject(new Error(`GET ${path}: ${answer.statusCode}`));
        });
      });
      request.on('error', reject);
    });
  return { ask, tell, readWhole };
};
export type Api = ReturnType<typeof connect>;

/** Reports events in batches, several at once, until all are reported or `isEnough` returns true. */
export const tellAll = async (
  { tell }: Api,
  events: Iterator<Event>,
  isEnough: () => boolean = () => false,
): Promise<void> => {
  const send = async (): Promise<void> => {
    while (!isEnough()) {
      const batch: Event[] = [];
      while (batch.length < perBatch) {
        const next = events.next();
        if (next.done === true) break;
        batch.push(next.value);
      }
      if (batch.length === 0) return;
      await tell(batch);
    }
  };
  await Promise.all(Array.from({ length: senders }, send));
};

/** Yields spans in traces of their own, named after a round. */
export function* spansOf(round: string, count: number, spansOfTrace = 5): Generator<Event> {
  for (let i = 0; i < count; i += 1) {
    const traceId = `${round}-${Math.floor(i / spansOfTrace)}`;
    const body = { traceId, name: `step ${i % 7}`, startTime: at, input: 'x'.repeat(300) };
    yield eventOf('span-create', `${traceId}-${i}`, body);
  }
}

/** Input of the thread that reports. */
export type Beside = { service: Service; round: string };

/**
 * Reports spans of a round, as fast as they are accepted, from a thread of its own. Resolves when the first are
 * accepted, with the function that stops it.
 */
export const tellBeside = async (
  { url, publicKey, secretKey }: Service,
  round: string,
): Promise<() => Promise<void>> => {
  const data: Beside = { service: { url, publicKey, secretKey }, round };
  const worker = new Worker(new URL('./ingest-tell-worker.ts', import.meta.url), {
    workerData: data,
  });
  await once(worker, 'message');
  const ended = once(worker, 'exit');
  return async () => {
    worker.postMessage('stop');
    await ended;
  };
};

/**
 * Input of the thread that reads: the path, the number of reads, and the statement of the floor, which runs after
 * each.
 */
export type Reading = {
  service: Service;
  path: string;
  runs: number;
  floor?: { databaseUrl: string; text: string } | undefined;
};

/**
 * Measures reads of a whole answer from a thread of its own, in milliseconds. Garbage collection in the thread that
 * reported the observations would otherwise count in the time of a large answer.
 */
export const readBeside = async ({
  service: { url, publicKey, secretKey },
  ...reading
}: Reading): Promise<{ samples: number[]; floors: number[] }> => {
  const data: Reading = { service: { url, publicKey, secretKey }, ...reading };
  const worker = new Worker(new URL('./ingest-read-worker.ts', import.meta.url), {
    workerData: data,
  });
  const [message] = await once(worker, 'message');
  return message as { samples: number[]; floors: number[] };
};
