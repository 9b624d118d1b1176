/**
 * Measures, without the product, the parts that every open and call consists of: an HTTP round trip to another process,
 * and a committed insert. They are measured on the same machine in the same run. A figure's floor is the least number
 * of each that the work needs, one after the other.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import pg from 'pg';
import { exchange } from '#wire/exchange.ts';
import { median, sample } from './figure.ts';

const server = `
const http = require('node:http');
const s = http.createServer((request, response) => {
  request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{"ok":true}'));
}).listen(0, '127.0.0.1', () => console.log(s.address().port));
`;

/** Returns the milliseconds of one small JSON POST over a kept-alive loopback connection; median of 500. */
const measureRoundTrip = async (): Promise<number> => {
  const child = spawn(process.execPath, ['-e', server], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [port] = await once(child.stdout, 'data');
    const url = `http://127.0.0.1:${String(port).trim()}/`;
    const post = async () => (await fetch(url, { method: 'POST', body: '{"n":1}' })).json();
    await sample(200, post);
    return median(await sample(500, post));
  } finally {
    child.kill();
  }
};

/** Returns the milliseconds of one committed single-row insert; median of 300. */
const measureCommit = async (databaseUrl: string): Promise<number> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(
      'create table if not exists bench_floor (id bigserial primary key, body text)',
    );
    const insert = () =>
      client.query({
        name: 'floor',
        text: 'insert into bench_floor (body) values ($1)',
        values: ['x'],
      });
    await sample(50, insert);
    return median(await sample(300, insert));
  } finally {
    await client.end();
  }
};

export type Floor = { roundTripMs: number; commitMs: number };

export const measureFloor = async (databaseUrl: string): Promise<Floor> => ({
  roundTripMs: await measureRoundTrip(),
  commitMs: await measureCommit(databaseUrl),
});

/** Returns the floor of work that needs this many round trips and commits in a row. */
export const floorOf = (floor: Floor, roundTrips: number, commits: number): number =>
  roundTrips * floor.roundTripMs + commits * floor.commitMs;

/** A process that only commits. */
export type Committer = {
  pid: number;
  /** Commits this many rows, one after the other. */
  commit(count: number): Promise<void>;
  end(): Promise<void>;
};

/** Starts a process that only commits. */
export const startCommitter = async (databaseUrl: string): Promise<Committer> => {
  const program = new URL('./commit-server.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [program, databaseUrl], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = await once(child.stdout, 'data');
  const url = `http://127.0.0.1:${String(port).trim()}/`;
  return {
    pid: child.pid as number,
    async commit(count) {
      const { status } = await exchange(`${url}?count=${count}`, { method: 'POST', headers: {} });
      if (status !== 200) throw new Error(`commits failed with ${status}`);
    },
    async end() {
      child.kill();
      await once(child, 'exit');
    },
  };
};
