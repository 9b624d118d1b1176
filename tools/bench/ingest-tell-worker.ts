/**
 * Thread that `tellBeside` starts. It reports spans until it is stopped, and posts a message when the first ones are
 * accepted.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { type Beside, connect, spansOf, tellAll } from './ingest-tell.ts';

const { service, round } = workerData as Beside;
let isOver = false;
parentPort?.once('message', () => {
  isOver = true;
});
const api = connect(service);
await tellAll(api, spansOf(`${round}-first`, 1));
parentPort?.postMessage('telling');
await tellAll(api, spansOf(round, Number.MAX_SAFE_INTEGER), () => isOver);
