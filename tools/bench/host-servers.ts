/**
 * The servers that are compared, each with the same 1,000 notes: the floor, the peers as their users start them, and
 * the world host as it runs in its image.
 */
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, type LaunchedServer, launch, newFolder, programOf } from './host-launch.ts';
import type { LoadRequest } from './host-load.ts';
import { startWorldHost } from './host-ours.ts';
import { newNote, noteCount, noteId, notesOf, pageRows } from './host-world.ts';

export const operations = ['get', 'list100', 'patch', 'post'] as const;
export type Operation = (typeof operations)[number];

export const serverNames = ['floor', 'ours', 'json-server', 'mockoon', 'emulate'] as const;
export type ServerName = (typeof serverNames)[number];

/** A server that accepts requests; the world host counts as started when it reports warm. */
export type MeasuredServer = LaunchedServer<ServerName, Record<Operation, LoadRequest[]>>;

/** Number of requests of one kind, so large that none is repeated while the same one is in progress. */
const requestCount = 320;

type Addresses = {
  one(index: number): string;
  page: string;
  all: string;
  headers?: (index: number) => Record<string, string>;
  /** Returns a note in the form that the server accepts. */
  newBody?: (index: number) => object;
};

const requestsOf = ({ one, page, all, headers = () => ({}), newBody = newNote }: Addresses) => {
  const each = (make: (index: number) => LoadRequest): LoadRequest[] =>
    Array.from({ length: requestCount }, (_, index) => make(index));
  const json = (index: number) => ({ ...headers(index), 'Content-Type': 'application/json' });
  // Alternates between two texts, so that each request changes its row.
  const patch = (words: string) =>
    each((index) => ({
      method: 'PATCH',
      path: one(index),
      headers: json(index),
      body: JSON.stringify({ title: `Note ${index + 1}, ${words}` }),
    }));
  return {
    get: each((index) => ({ method: 'GET', path: one(index), headers: headers(index) })),
    list100: each((index) => ({ method: 'GET', path: page, headers: headers(index) })),
    patch: [...patch('asked about again'), ...patch('answered at last')],
    post: each((index) => ({
      method: 'POST',
      path: all,
      headers: json(index),
      body: JSON.stringify(newBody(noteCount + index)),
    })),
  } satisfies Record<Operation, LoadRequest[]>;
};

const notes = notesOf(noteCount);

const plainRequests = (page: string) =>
  requestsOf({ one: (index) => `/notes/${noteId(index)}`, page, all: '/notes' });

const startFloor = async (): Promise<MeasuredServer> => {
  const [folder, port] = [await newFolder(), await freePort()];
  const file = join(folder, 'notes.json');
  await writeFile(file, JSON.stringify(notes));
  const program = fileURLToPath(new URL('./host-floor.ts', import.meta.url));
  const requests = plainRequests(`/notes?limit=${pageRows}`);
  const [first = { method: 'GET', path: '/' }] = requests.get;
  return launch({
    name: 'floor',
    port,
    folder,
    first,
    requests,
    args: [program, file, String(port)],
  });
};

const startJsonServer = async (): Promise<MeasuredServer> => {
  const [folder, port] = [await newFolder(), await freePort()];
  const file = join(folder, 'db.json');
  await writeFile(file, JSON.stringify({ notes }));
  const requests = plainRequests(`/notes?_page=1&_per_page=${pageRows}`);
  const [first = { method: 'GET', path: '/' }] = requests.get;
  const args = [programOf('json-server', 'lib/bin.js'), file, '--port', String(port)];
  return launch({ name: 'json-server', port, folder, first, requests, args });
};

/** Builds one route of all four kinds over a bucket of data, as the product's own editor does. */
const mockoonEnvironment = (): object => {
  const { BuildEnvironment, BuildDatabucket, BuildCRUDRoute } = createRequire(
    programOf('@mockoon/cli', 'package.json'),
  )('@mockoon/commons');
  const bucket = { ...BuildDatabucket({}), name: 'notes', value: JSON.stringify(notes) };
  const route = { ...BuildCRUDRoute(bucket.id), endpoint: 'notes' };
  route.responses[0].databucketID = bucket.id;
  const environment = BuildEnvironment({ hasDefaultRoute: false, hasDefaultHeader: false });
  return {
    ...environment,
    data: [bucket],
    routes: [route],
    rootChildren: [{ type: 'route', uuid: route.uuid }],
  };
};

const startMockoon = async (): Promise<MeasuredServer> => {
  const [folder, port] = [await newFolder(), await freePort()];
  const file = join(folder, 'environment.json');
  await writeFile(file, JSON.stringify(mockoonEnvironment()));
  const requests = plainRequests(`/notes?page=1&limit=${pageRows}`);
  const [first = { method: 'GET', path: '/' }] = requests.get;
  const options = ['--data', file, '--port', String(port), '--disable-log-to-file'];
  const args = [programOf('@mockoon/cli', 'bin/run.js'), 'start', ...options];
  return launch({ name: 'mockoon', port, folder, first, requests, args });
};

/** Tokens for emulate. Its limit of 5,000 requests an hour cannot be lifted, but applies to each token separately. */
const emulateTokens = Array.from({ length: requestCount }, (_, index) => `token-${index}`);

const emulateSeed = () => ({
  tokens: Object.fromEntries(
    emulateTokens.map((token) => [token, { login: 'ann', scopes: ['repo'] }]),
  ),
  github: {
    users: [{ login: 'ann', name: 'Ann', email: 'ann@example.com' }],
    repos: [{ owner: 'ann', name: 'notes' }],
  },
});

/**
 * Starts emulate. The issues of its GitHub represent the notes, since emulate has no rows of a shape that the user
 * defines.
 */
const startEmulate = async (): Promise<MeasuredServer> => {
  const [folder, port] = [await newFolder(), await freePort()];
  const file = join(folder, 'seed.json');
  await writeFile(file, JSON.stringify(emulateSeed()));
  const all = '/repos/ann/notes/issues';
  const headers = (index: number) => ({ Authorization: `Bearer ${emulateTokens[index]}` });
  const newBody = (index: number) => ({ title: newNote(index).title, body: newNote(index).author });
  const requests = requestsOf({
    one: (index) => `${all}/${index + 1}`,
    page: `${all}?per_page=${pageRows}`,
    all,
    headers,
    newBody,
  });
  const [first = { method: 'GET', path: '/' }] = requests.list100;
  const program = programOf('emulate', 'dist/index.js');
  const args = [program, 'start', '--service', 'github', '--port', String(port), '--seed', file];
  const server = await launch({ name: 'emulate', port, folder, first, requests, args });
  for (let index = 0; index < noteCount; index += 1) {
    const body = JSON.stringify(newBody(index));
    await fetch(server.url + all, { method: 'POST', headers: headers(index % requestCount), body });
  }
  return server;
};

const startOurs = async (): Promise<MeasuredServer> => {
  const host = await startWorldHost();
  const headers = () => ({ Authorization: `Bearer ${host.token}` });
  const one = (index: number) => `/notes/${noteId(index)}`;
  const requests = requestsOf({ one, page: `/notes?limit=${pageRows}`, all: '/notes', headers });
  return { name: 'ours', ...host, requests };
};

const starts: Record<ServerName, () => Promise<MeasuredServer>> = {
  floor: startFloor,
  ours: startOurs,
  'json-server': startJsonServer,
  mockoon: startMockoon,
  emulate: startEmulate,
};

const rowsIn = (page: unknown): number => {
  const rows = Array.isArray(page) ? page : (page as { data?: unknown[] }).data;
  return rows?.length ?? 0;
};

/** Throws unless a server answers with the requested rows. */
const checkAnswers = async ({ name, url, requests }: MeasuredServer): Promise<void> => {
  for (const [operation, [first]] of Object.entries(requests)) {
    if (first === undefined) continue;
    const { path, ...init } = first;
    const response = await fetch(url + path, init as RequestInit);
    const answered = await response.json();
    const isPage = operation === 'list100';
    if (!response.ok || (isPage && rowsIn(answered) !== pageRows)) {
      throw new Error(`${name} answers ${operation} with ${response.status}`);
    }
  }
};

/** Starts one of the servers. */
export const startServer = async (name: ServerName): Promise<MeasuredServer> => {
  const server = await starts[name]();
  try {
    await checkAnswers(server);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
};
