/**
 * The code hosts that are compared, with the same issues: the template `code-hosting` on a world host, emulate's
 * GitHub, and a floor that has the world host's answers prepared.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Row } from '../../src/language/contract.ts';
import { freePort, type LaunchedServer, launch, newFolder, programOf } from './host-launch.ts';
import type { LoadRequest } from './host-load.ts';
import { startHostOf } from './host-ours.ts';
import {
  type FirstOperation,
  firstRequestsOf,
  requestCount,
  requestsOf,
  type WorldOperation,
} from './world-requests.ts';
import { type BenchIssue, buildCodeHost, issues, owner, path, repo, viewer } from './world-rows.ts';

export const codeHostNames = ['floor', 'ours', 'emulate'] as const;
export type CodeHostName = (typeof codeHostNames)[number];

type Requests = {
  cycles: Record<WorldOperation, LoadRequest[]>;
  first: Record<FirstOperation, LoadRequest[]>;
};

export type CodeHost = LaunchedServer<CodeHostName, Requests>;

type HeadersOf = Parameters<typeof requestsOf>[0];

const allOf = (headers: HeadersOf): Requests => ({
  cycles: requestsOf(headers),
  first: firstRequestsOf(headers),
});

const startOurs = async (): Promise<CodeHost> => {
  const host = await startHostOf('code-hosting', buildCodeHost());
  const headers = { Authorization: `Bearer ${host.token}` };
  return { name: 'ours', ...host, requests: allOf(() => headers) };
};

const readJson = async (server: CodeHost, { path, ...init }: LoadRequest): Promise<unknown> => {
  const response = await fetch(server.url + path, init as RequestInit);
  if (!response.ok) {
    throw new Error(`${server.name} answers ${init.method} ${path} with ${response.status}`);
  }
  return response.json();
};

/** Returns all issues and a comment, as the world host returns them. */
const answersOf = async (ours: CodeHost): Promise<object> => {
  const { list100, create } = ours.requests.cycles;
  const pages = await Promise.all(list100.slice(0, 10).map((request) => readJson(ours, request)));
  const last = create.at(-1);
  if (last === undefined) throw new Error('no request creates a comment');
  return { issues: pages.flat(), comment: await readJson(ours, last) };
};

const startFloor = async (ours: CodeHost): Promise<CodeHost> => {
  const [folder, port] = [await newFolder(), await freePort()];
  const file = join(folder, 'answers.json');
  await writeFile(file, JSON.stringify(await answersOf(ours)));
  const program = fileURLToPath(new URL('./world-floor.ts', import.meta.url));
  const first: LoadRequest = { method: 'GET', path: `${path}/issues` };
  const requests = allOf(() => ({}));
  return launch({
    name: 'floor',
    port,
    folder,
    first,
    requests,
    args: [program, file, String(port)],
  });
};

/** Tokens for emulate. Its limit of 5,000 requests an hour cannot be lifted, but applies to each token separately. */
const tokens = Array.from({ length: requestCount }, (_, index) => `token-${index}`);
const authors = [...new Set([viewer, ...issues.map(({ author }) => author)])];

const emulateSeed = () => ({
  tokens: Object.fromEntries([
    ...tokens.map((token) => [token, { login: viewer, scopes: ['repo'] }]),
    ...authors.map((login) => [`token-of-${login}`, { login, scopes: ['repo'] }]),
  ]),
  github: {
    users: authors.map((login) => ({ login, name: login })),
    orgs: [{ login: owner, members: authors.map((login) => ({ login, role: 'admin' })) }],
    repos: [{ owner, name: repo }],
  },
});

/** Creates an issue in emulate, whose seed contains no issues: opens it, comments on it, closes it. */
const giveIssue = async (server: CodeHost, issue: BenchIssue): Promise<void> => {
  const { number, title, body, author, labels, isClosed, comments } = issue;
  const send = (method: 'POST' | 'PATCH', to: string, sent: object, by: string) =>
    readJson(server, {
      method,
      path: `${path}/issues${to}`,
      headers: { Authorization: `Bearer token-of-${by}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(sent),
    });
  const given = (await send('POST', '', { title, body, labels }, author)) as Row;
  if (given.number !== number) throw new Error(`emulate counts issue ${number} as ${given.number}`);
  for (const text of comments) await send('POST', `/${number}/comments`, { body: text }, author);
  if (isClosed) await send('PATCH', `/${number}`, { state: 'closed' }, viewer);
};

const startEmulate = async (): Promise<CodeHost> => {
  const [folder, port] = [await newFolder(), await freePort()];
  const file = join(folder, 'seed.json');
  await writeFile(file, JSON.stringify(emulateSeed()));
  const headers: HeadersOf = (index) => ({
    Authorization: `Bearer ${tokens[index % tokens.length]}`,
  });
  const program = programOf('emulate', 'dist/index.js');
  const server = await launch({
    name: 'emulate' as const,
    port,
    folder,
    first: { method: 'GET', path: `${path}/issues`, headers: headers(0) },
    requests: allOf(headers),
    args: [program, 'start', '--service', 'github', '--port', String(port), '--seed', file],
  });
  for (const issue of issues) await giveIssue(server, issue);
  return server;
};

/**
 * Returns the parts of an answer that must be equal on all code hosts: the number of rows, or the issue with its
 * contents.
 */
const gist = (answer: unknown): unknown => {
  if (Array.isArray(answer)) return answer.length;
  const { total_count, number, title, body, state, comments, labels, user } = answer as Row;
  if (total_count !== undefined) return { total_count };
  const author = (user as Row).login;
  return {
    number,
    title,
    body,
    state,
    comments,
    labels: (labels as Row[] | undefined)?.length,
    author,
  };
};

/** Throws unless all code hosts answer the first requests of each cycle alike. */
const checkAlike = async (servers: readonly CodeHost[]): Promise<void> => {
  for (const operation of ['get', 'list30', 'list100', 'search', 'create'] as const) {
    for (const index of [0, 1, 2]) {
      const answers = new Set<string>();
      for (const server of servers) {
        const request = server.requests.cycles[operation][index];
        if (request === undefined)
          throw new Error(`the benchmark has no request for the operation ${operation}`);
        answers.add(JSON.stringify(gist(await readJson(server, request))));
      }
      if (answers.size > 1) {
        throw new Error(`the code hosts differ in ${operation}: ${[...answers].join(' / ')}`);
      }
    }
  }
};

/**
 * Starts all code hosts. The world host is started twice: once to prepare the floor's answers, and once without any
 * request yet.
 */
export const startCodeHosts = async (say: (line: string) => void): Promise<CodeHost[]> => {
  const servers: CodeHost[] = [];
  const start = async (starting: Promise<CodeHost>): Promise<CodeHost> => {
    const server = await starting;
    servers.push(server);
    return server;
  };
  try {
    say('starting the floor, the world host and emulate');
    const asked = await start(startOurs());
    await start(startFloor(asked));
    await start(startEmulate());
    await checkAlike(servers);
    await asked.stop();
    servers.shift();
    await start(startOurs());
    return servers;
  } catch (error) {
    await Promise.all(servers.map((server) => server.stop()));
    throw error;
  }
};
