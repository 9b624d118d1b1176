/**
 * Tests the official MCP clients for TypeScript and Python, on real processes. Through the server of a session they
 * list and call every tool of `code-hosting`, and solve its task `close-duplicate`, whose grade passes.
 */
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWorld } from '#wire/public-api/operations.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';
import { findPython } from '../../contract/clients/packages.ts';
import { connectMcp, textOf } from '../../support/control/mcp.ts';
import { call, close, open } from '../../support/control/sessions.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { type Network, startNetwork } from '../../support/programs/network.ts';
import { tier } from '../../support/run/tier.ts';

type Call = { name: string; arguments: Record<string, unknown> };
type Result = { content: { text: string }[]; structuredContent?: unknown; isError?: boolean };
type ClientResult = { tools: string[]; results: Result[] };
type Place = { url: string; token: string };

const repository = { owner: 'northquay', repo: 'berth' };
const on = (issue_number: number) => ({ ...repository, issue_number });
const pull = (pull_number: number) => ({ ...repository, pull_number });

/** One call of each tool, ordered so that each can succeed. */
const everyTool: Call[] = Object.entries({
  list_repositories: { owner: 'northquay', limit: 2 },
  list_issues: { ...repository, state: 'open', limit: 3 },
  get_issues: { ...repository, number: 139 },
  list_comments: { ...on(139), limit: 2 },
  list_labels: { ...repository, limit: 2 },
  list_issue_labels: { ...on(12) },
  list_milestones: { ...repository },
  list_pulls: { ...repository, merged: false, limit: 2 },
  list_reviews: { ...repository, limit: 1 },
  list_branches: { ...repository },
  create_issue: { ...repository, title: 'By MCP', labels: ['bug'] },
  update_issue: { ...on(139), title: 'Another title' },
  add_labels: { ...on(139), labels: ['bug'] },
  remove_label: { ...on(12), name: 'bug' },
  create_comment: { ...on(139), body: 'By MCP.' },
  create_milestone: { ...repository, title: 'By MCP' },
  create_review: { ...pull(155), event: 'APPROVE' },
  merge_pull: { ...pull(150), merge_method: 'squash' },
  delete_branch: { ...repository, branch: 'occupancy-nights' },
  search_issues: { q: 'repo:northquay/berth is:open is:issue', per_page: 2 },
  triage_summary: { ...repository },
  find_duplicates: { ...repository, number: 139, limit: 2 },
}).map(([name, given]) => ({ name, arguments: given }));

/** Steps that solve the task: find the older issue, name it, label and close the newer one. */
const solution: Call[] = [
  { name: 'find_duplicates', arguments: { ...repository, number: 157 } },
  { name: 'add_labels', arguments: { ...on(157), labels: ['duplicate'] } },
  { name: 'create_comment', arguments: { ...on(157), body: 'Duplicate of #139' } },
  {
    name: 'update_issue',
    arguments: { ...on(157), state: 'closed', state_reason: 'not_planned' },
  },
];

type Part = { at: Place; calls: Call[] };
type Work = (parts: Part[]) => Promise<ClientResult[]>;

const inTypeScript: Work = async (parts) => {
  const outcome: ClientResult[] = [];
  for (const { at, calls } of parts) {
    const client = await connectMcp(at.url, `Bearer ${at.token}`);
    const { tools } = await client.listTools();
    const results: Result[] = [];
    for (const one of calls) results.push((await client.callTool(one)) as Result);
    await client.close();
    outcome.push({ tools: tools.map(({ name }) => name), results });
  }
  return outcome;
};

/**
 * The client for Python belongs to the full tier, because its packages take a minute to install.
 */
const program =
  tier === 'full'
    ? await findPython(join(import.meta.dirname, '../../contract/clients/python/with_mcp.py'))
    : { missing: 'its tier is the full one' };

const inPython: Work = (parts) =>
  new Promise((resolve, reject) => {
    if ('missing' in program) throw new Error(program.missing);
    const { command, args, env } = program;
    const child = execFile(
      command,
      args,
      { env, cwd: dirname(args[0] ?? '.'), maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) =>
        error === null ? resolve(JSON.parse(stdout)) : reject(new Error(stderr || error.message)),
    );
    child.stdin?.end(JSON.stringify(parts));
  });

let database: TestDatabase;
let network: Network;

beforeAll(async () => {
  database = await testDatabase();
  network = await startNetwork({ databaseUrl: database.url, poolSize: 2, poolMax: 4 });
  await network.client.send(createWorld, {
    body: { slug: 'code-hosting', from: 'code-hosting' },
  });
  await network.warm(2);
});

afterAll(async () => {
  await network.stop();
  await database.drop();
});

const placeOf = ({ surfaces }: SessionView): Place => {
  const { url, token } = surfaces.mcp ?? {};
  if (url === undefined || token === undefined) throw new Error('the session has no MCP server');
  return { url, token };
};

const clients: [string, Work, boolean][] = [
  ['TypeScript', inTypeScript, true],
  ['Python', inPython, !('missing' in program)],
];

describe.each(clients)('the official client for %s', (_, work, isThere) => {
  it.runIf(isThere)(
    'lists and calls every tool of code-hosting, and solves close-duplicate',
    async () => {
      const free = await open(network.client, { slug: 'code-hosting' });
      const tasked = await open(network.client, { slug: 'code-hosting', task: 'close-duplicate' });
      expect(free.state).toBe('READY');
      expect(tasked.state).toBe('READY');
      const [first, second] = await work([
        { at: placeOf(free), calls: everyTool },
        { at: placeOf(tasked), calls: solution },
      ]);

      expect(first?.tools).toEqual(free.tools.map(({ name }) => name));
      expect([...(first?.tools ?? [])].sort()).toEqual(everyTool.map(({ name }) => name).sort());
      const failed = first?.results.flatMap((result, at) =>
        result.isError === true ? [`${everyTool[at]?.name}: ${textOf(result)}`] : [],
      );
      expect(failed).toEqual([]);
      const resultOf = (name: string) =>
        first?.results[everyTool.findIndex((one) => one.name === name)]?.structuredContent;
      expect(resultOf('list_issues')).toMatchObject({ result: [{}, {}, {}] });
      expect(resultOf('get_issues')).toMatchObject({ number: 139 });

      expect(second?.results.map(({ isError }) => isError ?? false)).toEqual(
        solution.map(() => false),
      );
      expect(JSON.parse(textOf(second?.results[0]))[0]).toMatchObject({ number: 139 });
      const { output } = await call(network.client, tasked.id, { kind: 'grade' });
      expect(output).toMatchObject({ passed: true });
      for (const { id } of [free, tasked]) await close(network.client, id);
    },
    180_000,
  );
});
