/**
 * The sample contract with tools, routes and user code, as blobs that a world host loads. For tests of the host that
 * should not depend on how worlds are compiled.
 */
import { createHash } from 'node:crypto';
import type { Digest, TreeFile } from '#domain/world.ts';
import { encodeBundle } from '#language/artifacts/bundle.ts';
import { readSegment } from '#language/check/route-path.ts';
import {
  type ApiContract,
  type Contract,
  plainPaging,
  type RouteContract,
  type ToolContract,
} from '#language/contract.ts';
import { buildSnapshot, type Rows } from '#store/snapshot.ts';
import { sampleContract, sampleEntities, sampleRows } from './sample-contract.ts';

const error = (status: number, message: string) => ({ status, body: JSON.stringify({ message }) });

export const sampleErrors = {
  unauthorized: error(401, 'Bad credentials'),
  notFound: error(404, 'Not Found'),
  invalid: error(422, 'Validation Failed'),
};

/** Builds a route with the defaults that a compiler would fill in. */
export const sampleRoute = (
  method: RouteContract['method'],
  path: string,
  parts: Partial<RouteContract> = {},
): RouteContract => {
  const action = parts.action ?? 'read';
  const isWrite = action === 'create' || action === 'update';
  return {
    operation: `${action}_${path.replaceAll(/\W+/g, '_')}`,
    method,
    path,
    segments: path.slice(1).split('/').map(readSegment),
    params: [],
    entity: 'issues',
    action,
    filter: [],
    handler: null,
    status: { create: 201, delete: 204, read: 200, update: 200, handler: 200 }[action],
    envelope: '',
    single: isWrite,
    body: [],
    defaults: {},
    generate: [],
    sample: {},
    page: 'none',
    cursorAbsentWhenDone: false,
    notFound: sampleErrors.notFound,
    ...parts,
  };
};

const byArgument = (...names: string[]): RouteContract['filter'] =>
  names.map((name) => ({ argument: name, path: [name], match: 'equals' }));

const issuePath = '/repos/{owner}/{repo}/issues';
const inRepo = byArgument('owner', 'repo');
const oneIssue = byArgument('owner', 'repo', 'number');

export const sampleApi: ApiContract = {
  auth: { scheme: 'bearer', name: null, tokenPath: null, scope: null },
  routes: [
    sampleRoute('GET', issuePath, {
      operation: 'list_repo_issues',
      params: [
        { name: 'state', repeated: false },
        { name: 'number', repeated: true },
        { name: 'q', repeated: false },
      ],
      filter: [
        ...inRepo,
        ...byArgument('state', 'number'),
        { argument: 'q', path: ['title'], match: 'contains' },
      ],
    }),
    sampleRoute('GET', `${issuePath}/{number}`, {
      operation: 'get_issue',
      filter: oneIssue,
      single: true,
    }),
    sampleRoute('POST', issuePath, {
      operation: 'create_issue',
      action: 'create',
      filter: inRepo,
      body: [
        { field: ['title'], from: ['title'] },
        { field: ['assignee'], from: ['assignee', 'login'] },
      ],
      defaults: { state: 'open', labels: [] },
      generate: [
        { field: 'id', with: 'int' },
        { field: 'number', with: 'int' },
      ],
    }),
    sampleRoute('PATCH', `${issuePath}/{number}`, {
      operation: 'update_issue',
      action: 'update',
      filter: oneIssue,
      body: ['title', 'state'].map((field) => ({ field: [field], from: [field] })),
    }),
    sampleRoute('DELETE', `${issuePath}/{number}`, {
      operation: 'delete_issue',
      action: 'delete',
      filter: oneIssue,
    }),
    sampleRoute('GET', '/users', { entity: 'users', envelope: 'users' }),
    sampleRoute('POST', '/users', { entity: 'users', action: 'create' }),
    sampleRoute('DELETE', '/users/{login}', {
      entity: 'users',
      action: 'delete',
      filter: byArgument('login'),
    }),
    sampleRoute('POST', `${issuePath}/{number}/labels`, {
      operation: 'add_labels',
      action: 'handler',
      handler: 'add_labels',
    }),
  ],
  ...sampleErrors,
  errorContentType: 'application/json',
  handlers: 'api/handlers.py',
  before: null,
  paging: plainPaging,
};

const handlersPy = `from svc_env import Refused


def add_labels(ctx):
    if ctx.args["number"] == "0":
        ctx.insert("users", {"login": "ghost", "id": 99})
        ctx.fail(418, {"message": "no such issue"})
    if ctx.args["number"] == "666":
        ctx.insert("users", {"login": "ghost", "id": 99})
        raise ValueError("broken handler")
    found = ctx.query("issues", {"number": int(ctx.args["number"]), "repo": ctx.args["repo"]})
    issue = found[0]
    labels = issue.get("labels", []) + ctx.body["labels"]
    return ctx.update("issues", {"id": issue["id"]}, {"labels": labels})["labels"]
`;

const toolsPy = `import time

from svc_env import fail, query, update


def close_all(repo):
    closed = 0
    for issue in query("issues", {"repo": repo, "state": "open"}):
        update("issues", {"id": issue["id"]}, {"state": "closed"})
        closed += 1
    if closed == 0:
        fail("nothing is open in " + repo)
    return closed


def take_time(repo):
    time.sleep(0.2)
    return len(query("issues"))


def lie(repo):
    update("issues", {"id": 10}, {"title": "changed"})
    return "not a number"
`;

const toolsTs = `import { query } from 'svc_env';

export async function count_open(input: { repo: string }) {
  return (await query('issues', { where: { repo: input.repo, state: 'open' } })).length;
}
`;

const repoInput = {
  type: 'object',
  properties: { repo: { type: 'string' } },
  required: ['repo'],
  additionalProperties: false,
};
const anyObject = { type: 'object' };
const integer = { type: 'integer' };

const tool = (
  name: string,
  binding: ToolContract['binding'],
  input: ToolContract['input'] = anyObject,
  output: ToolContract['output'] = {},
): ToolContract => ({ name, input, output, binding });

const convention = (verb: 'list' | 'get' | 'create' | 'update' | 'delete', entity: string) =>
  tool(`${verb}_${entity}`, { kind: 'convention', verb, entity });

const python = (name: string): ToolContract =>
  tool(name, { kind: 'python', file: 'tools.py', function: name }, repoInput, integer);

export const sampleWorldContract: Contract = sampleContract({
  entities: sampleEntities,
  api: sampleApi,
  tools: [
    ...(['list', 'get', 'create', 'update', 'delete'] as const).map((verb) =>
      convention(verb, 'issues'),
    ),
    convention('create', 'users'),
    convention('delete', 'users'),
    tool('update_issue', { kind: 'operation', operation: 'update_issue' }),
    python('close_all'),
    python('lie'),
    python('take_time'),
    tool(
      'count_open',
      { kind: 'typescript', file: 'tools.ts', function: 'count_open' },
      repoInput,
      integer,
    ),
  ],
});

const file = (path: string, content: string): TreeFile => ({
  path,
  content: new TextEncoder().encode(content),
});

export type SampleVersion = {
  bundle: Digest;
  snapshot: Digest;
  stateDigest: Digest;
  blobs: ReadonlyMap<string, Uint8Array>;
};

const digestOf = (bytes: Uint8Array): Digest =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** Builds a version of the sample world with its blobs; `tools` replaces its tools in Python. */
export const sampleVersion = (
  rows: Rows = sampleRows,
  contract: Contract = sampleWorldContract,
  tools = toolsPy,
): SampleVersion => {
  const bundle = encodeBundle({
    contract,
    files: [
      file('api/handlers.py', handlersPy),
      file('tools.py', tools),
      file('tools.ts', toolsTs),
    ],
  });
  const snapshot = buildSnapshot(contract, rows);
  const blobs = new Map([bundle, snapshot.bytes].map((bytes) => [digestOf(bytes), bytes]));
  return {
    bundle: digestOf(bundle),
    snapshot: digestOf(snapshot.bytes),
    stateDigest: snapshot.digest,
    blobs,
  };
};
