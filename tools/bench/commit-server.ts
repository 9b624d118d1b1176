/**
 * The server that gives the floor of a load: a bare HTTP server that commits one row for each request, or as many as
 * `count` says, and answers. It is a process of its own, on the database that its first argument names, and prints its
 * port on a line.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';

/** Connections, as many as the control plane has. */
const connections = 10;

const pool = new pg.Pool({ connectionString: process.argv[2], max: connections });
await pool.query('create table if not exists bench_arrivals (id bigserial primary key, body text)');
const insert = { name: 'arrival', text: 'insert into bench_arrivals (body) values ($1)' };

const server = createServer(async (request, response) => {
  request.resume();
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const count = Number(searchParams.get('count') ?? 1);
  for (let done = 0; done < count; done += 1) await pool.query({ ...insert, values: ['x'] });
  response.setHeader('content-type', 'application/json').end('{"ok":true}');
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
