/** Thread that `readBeside` starts. It reads an answer repeatedly, and posts how long each read took. */
import { parentPort, workerData } from 'node:worker_threads';
import pg from 'pg';
import { sample } from './figure.ts';
import { connect, type Reading } from './ingest-tell.ts';

/** Number of reads that do not count, since code that has not run yet would slow them. */
const warmUp = 10;

const { service, path, floor, runs } = workerData as Reading;
const api = connect(service);
const read = () => api.readWhole(path);
await sample(warmUp, read);
const samples = await sample(runs, read);
let floors: number[] = [];
if (floor !== undefined) {
  const client = new pg.Client({ connectionString: floor.databaseUrl });
  await client.connect();
  const ask = () => client.query({ name: 'floor', text: floor.text, rowMode: 'array' });
  await sample(warmUp, ask);
  floors = await sample(runs, ask);
  await client.end();
}
parentPort?.postMessage({ samples, floors });
