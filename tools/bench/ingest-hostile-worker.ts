/**
 * Thread that `besideHostile` starts. It sends hostile bodies, ten a second, until it is stopped; then it posts the
 * answers.
 */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { Hostile } from './ingest-hostile.ts';

const everyMs = 100;

const { url, authorizations, bodies } = workerData as Hostile;
const statuses: Record<number, number> = {};

const send = async (number: number): Promise<void> => {
  const body = bodies[number % bodies.length];
  const answer = await fetch(`${url}/api/public/otel/v1/traces`, {
    method: 'POST',
    headers: {
      authorization: authorizations[number % authorizations.length] ?? '',
      'content-type': 'application/x-protobuf',
      'content-encoding': 'gzip',
    },
    body: body ?? null,
  });
  await answer.arrayBuffer();
  statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
};

let isOver = false;
const stopped = parentPort === null ? undefined : once(parentPort, 'message');
void stopped?.then(() => {
  isOver = true;
});
const sent: Promise<void>[] = [];
for (let number = 0; !isOver; number += 1) {
  sent.push(send(number));
  if (number === 0) parentPort?.postMessage('sending');
  await pause(everyMs);
}
await Promise.all(sent);
parentPort?.postMessage(statuses);
