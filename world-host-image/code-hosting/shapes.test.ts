/**
 * Compares the code host's answers with the vendor's own description of its API. The test writes each answer to a file
 * as a literal of the type that `@octokit/openapi-types` declares for the answer's route. The TypeScript compiler then
 * reports fields that are missing, of another type, or not described.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import type { JsonSchema } from '#language/contract.ts';
import { toRowProblems } from '#language/schema/checkers.ts';
import { createShapes } from '#language/schema/shapes.ts';
import { serveCodeHost } from '#test/support/templates/code-hosting.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const berth = '/repos/northquay/berth';

/** Request of a test: the route's path in the vendor's description, the path requested, and the body. */
type Asked = [route: string, path: string, body?: object];

const repo = '/repos/{owner}/{repo}';
const asked: Record<string, Asked[]> = {
  get: [
    ['/user', '/user'],
    ['/users', '/users'],
    ['/users/{username}', '/users/mikkelh'],
    ['/users/{username}/repos', '/users/mikkelh/repos'],
    ['/users/{username}/orgs', '/users/priyaraman/orgs'],
    ['/user/orgs', '/user/orgs'],
    ['/user/repos', '/user/repos'],
    ['/user/memberships/orgs/{org}', '/user/memberships/orgs/northquay'],
    ['/orgs/{org}', '/orgs/northquay'],
    ['/orgs/{org}/repos', '/orgs/northquay/repos'],
    ['/orgs/{org}/members', '/orgs/northquay/members'],
    ['/orgs/{org}/memberships/{username}', '/orgs/northquay/memberships/sam-okafor'],
    [repo, berth],
    [`${repo}/topics`, `${berth}/topics`],
    [`${repo}/assignees`, `${berth}/assignees`],
    [`${repo}/branches`, `${berth}/branches`],
    [`${repo}/branches/{branch}`, `${berth}/branches/main`],
    [`${repo}/branches/{branch}/protection`, `${berth}/branches/main/protection`],
    [
      `${repo}/commits/{commit_sha}/branches-where-head`,
      `${berth}/commits/main/branches-where-head`,
    ],
    [`${repo}/commits/{commit_sha}/comments`, `${berth}/commits/main/comments`],
    [`${repo}/commits`, `${berth}/commits`],
    [`${repo}/commits/{ref}`, `${berth}/commits/occupancy-nights`],
    [`${repo}/contents/{path}`, `${berth}/contents/README.md`],
    [`${repo}/contents/{path}`, `${berth}/contents/server`],
    [`${repo}/readme`, `${berth}/readme`],
    [`${repo}/license`, '/repos/northquay/tide-feed/license'],
    [`${repo}/languages`, `${berth}/languages`],
    [`${repo}/contributors`, `${berth}/contributors`],
    [`${repo}/tags`, `${berth}/tags`],
    [`${repo}/git/trees/{tree_sha}`, `${berth}/git/trees/main?recursive=1`],
    [
      `${repo}/git/commits/{commit_sha}`,
      `${berth}/git/commits/ea971acdeea7783b9d999af454bd15ec05002f51`,
    ],
    [`${repo}/git/matching-refs/{ref}`, `${berth}/git/matching-refs/tags/`],
    [`${repo}/compare/{basehead}`, `${berth}/compare/v2.6.0...main`],
    [`${repo}/git/ref/{ref}`, `${berth}/git/ref/heads%2Fmain`],
    ['/issues', '/issues?filter=all'],
    [`${repo}/issues`, `${berth}/issues?state=all&per_page=100`],
    [`${repo}/issues/{issue_number}`, `${berth}/issues/40`],
    [`${repo}/issues/{issue_number}`, `${berth}/issues/150`],
    [`${repo}/issues/{issue_number}/labels`, `${berth}/issues/40/labels`],
    [`${repo}/issues/{issue_number}/comments`, `${berth}/issues/40/comments`],
    [`${repo}/issues/{issue_number}/events`, `${berth}/issues/150/events`],
    [`${repo}/issues/{issue_number}/timeline`, `${berth}/issues/150/timeline`],
    [`${repo}/issues/comments`, `${berth}/issues/comments`],
    [`${repo}/issues/events`, `${berth}/issues/events`],
    [`${repo}/labels`, `${berth}/labels`],
    [`${repo}/milestones`, `${berth}/milestones?state=all`],
    [`${repo}/milestones/{milestone_number}`, `${berth}/milestones/3`],
    [`${repo}/pulls`, `${berth}/pulls?state=all`],
    [`${repo}/pulls/{pull_number}`, `${berth}/pulls/150`],
    [`${repo}/pulls/{pull_number}`, `${berth}/pulls/123`],
    [`${repo}/pulls/{pull_number}/commits`, `${berth}/pulls/150/commits`],
    [`${repo}/pulls/{pull_number}/files`, `${berth}/pulls/150/files`],
    [`${repo}/pulls/{pull_number}/requested_reviewers`, `${berth}/pulls/155/requested_reviewers`],
    [`${repo}/pulls/{pull_number}/reviews`, `${berth}/pulls/150/reviews`],
    [`${repo}/pulls/{pull_number}/comments`, `${berth}/pulls/123/comments`],
    [
      `${repo}/pulls/{pull_number}/reviews/{review_id}/comments`,
      `${berth}/pulls/123/reviews/3231190042/comments`,
    ],
    [`${repo}/pulls/comments/{comment_id}`, `${berth}/pulls/comments/2360117845`],
    [`${repo}/hooks`, `${berth}/hooks`],
    [`${repo}/autolinks`, `${berth}/autolinks`],
    [`${repo}/releases`, `${berth}/releases`],
    [`${repo}/releases/latest`, `${berth}/releases/latest`],
    [`${repo}/releases/tags/{tag}`, `${berth}/releases/tags/v2.6.0`],
    [`${repo}/releases/{release_id}/assets`, `${berth}/releases/249077205/assets`],
    [`${repo}/commits/{ref}/statuses`, `${berth}/commits/postgres-18/statuses`],
    [`${repo}/commits/{ref}/status`, `${berth}/commits/postgres-18/status`],
    [`${repo}/commits/{ref}/check-runs`, `${berth}/commits/postgres-18/check-runs`],
    [`${repo}/commits/{ref}/check-suites`, `${berth}/commits/postgres-18/check-suites`],
    [`${repo}/issues/{issue_number}/reactions`, `${berth}/issues/139/reactions`],
    [`${repo}/collaborators`, `${berth}/collaborators`],
    [`${repo}/collaborators/{username}/permission`, `${berth}/collaborators/sam-okafor/permission`],
    [`${repo}/teams`, `${berth}/teams`],
    ['/user/teams', '/user/teams'],
    ['/orgs/{org}/teams', '/orgs/northquay/teams'],
    ['/orgs/{org}/teams/{team_slug}', '/orgs/northquay/teams/product'],
    ['/orgs/{org}/teams/{team_slug}/members', '/orgs/northquay/teams/product/members'],
    ['/orgs/{org}/teams/{team_slug}/repos', '/orgs/northquay/teams/product/repos'],
    [
      '/orgs/{org}/teams/{team_slug}/memberships/{username}',
      '/orgs/northquay/teams/product/memberships/priyaraman',
    ],
    ['/notifications', '/notifications'],
    ['/notifications/threads/{thread_id}', '/notifications/threads/18210443301'],
    [
      '/notifications/threads/{thread_id}/subscription',
      '/notifications/threads/18210443301/subscription',
    ],
    ['/meta', '/meta'],
    ['/versions', '/versions'],
    ['/search/issues', '/search/issues?q=reminder'],
    ['/search/repositories', '/search/repositories?q=tide'],
    ['/search/users', '/search/users?q=mikkel'],
    ['/rate_limit', '/rate_limit'],
  ],
  post: [
    ['/user/repos', '/user/repos', { name: 'notes', auto_init: true }],
    [`${repo}/issues`, `${berth}/issues`, { title: 'A', milestone: 3, labels: ['bug'] }],
    [`${repo}/issues/{issue_number}/comments`, `${berth}/issues/157/comments`, { body: 'A' }],
    [`${repo}/issues/{issue_number}/labels`, `${berth}/issues/157/labels`, { labels: ['p1'] }],
    [`${repo}/labels`, `${berth}/labels`, { name: 'new' }],
    [`${repo}/milestones`, `${berth}/milestones`, { title: '3.0' }],
    [
      `${repo}/hooks`,
      `${berth}/hooks`,
      { config: { url: 'https://hooks.example/a', content_type: 'json', secret: 's' } },
    ],
    [`${repo}/releases`, `${berth}/releases`, { tag_name: 'v3', name: '3', body: 'A @mikkelh' }],
    [`${repo}/releases/generate-notes`, `${berth}/releases/generate-notes`, { tag_name: 'v4' }],
    [
      `${repo}/statuses/{sha}`,
      `${berth}/statuses/ea971acdeea7783b9d999af454bd15ec05002f51`,
      { state: 'success' },
    ],
    [
      `${repo}/issues/{issue_number}/reactions`,
      `${berth}/issues/157/reactions`,
      { content: 'heart' },
    ],
    ['/orgs/{org}/teams', '/orgs/northquay/teams', { name: 'Support' }],
    [
      `${repo}/pulls/{pull_number}/reviews`,
      `${berth}/pulls/155/reviews`,
      { event: 'APPROVE', body: 'Good' },
    ],
    [
      `${repo}/pulls/{pull_number}/requested_reviewers`,
      `${berth}/pulls/153/requested_reviewers`,
      { reviewers: ['jonas-eide'] },
    ],
  ],
  put: [
    [`${repo}/pulls/{pull_number}/merge`, `${berth}/pulls/150/merge`, {}],
    [
      `${repo}/contents/{path}`,
      `${berth}/contents/docs/a.md`,
      { message: 'A', content: 'QQ==', branch: 'danish-plads' },
    ],
    [`${repo}/collaborators/{username}`, `${berth}/collaborators/mikkelh`, { permission: 'push' }],
    [
      '/orgs/{org}/teams/{team_slug}/memberships/{username}',
      '/orgs/northquay/teams/platform/memberships/priyaraman',
      {},
    ],
  ],
  patch: [
    [
      `${repo}/git/refs/{ref}`,
      `${berth}/git/refs/heads/danish-plads`,
      { sha: 'ea971acdeea7783b9d999af454bd15ec05002f51', force: true },
    ],
  ],
};

/** Fields of our answers that the vendor's description does not have, by the requested path. */
const undescribed: Record<string, string[]> = {
  // The vendor sends this field here, too, although it describes it only for the events of one issue.
  [`${berth}/issues/events`]: ['state_reason'],
};

const world = await serveCodeHost();
const folder = mkdtempSync(join(tmpdir(), 'svc-shapes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Fields of labels that the vendor's description does not have yet, wherever a label occurs. */
const ofLabels = ['archived_at', 'archived_by'];

/** Returns an answer whose rows lack the given fields, and whose labels lack the fields `ofLabels`. */
const without = (body: unknown, fields: readonly string[]): unknown => {
  if (Array.isArray(body)) return body.map((row) => without(row, fields));
  if (typeof body !== 'object' || body === null) return body;
  const hidden = 'color' in body && 'default' in body ? [...fields, ...ofLabels] : fields;
  return Object.fromEntries(
    Object.entries(body)
      .filter(([name]) => !hidden.includes(name))
      .map(([name, value]) => [name, without(value, [])]),
  );
};

/** Operations that the world declares, by the path and method of the route. */
const declared = new Map<string, string>();
const schemas = new Map<string, JsonSchema>();
for (const { method, path, operation, response } of world.contract.api?.routes ?? []) {
  declared.set(`${method} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`, operation);
  if (response !== undefined) schemas.set(operation, response);
}
const shapes = createShapes(world.contract.definitions, schemas);
const misfits: unknown[] = [];

/** Checks an answer against the schema that `openapi.json` has for its route. */
const compare = (method: string, route: string, body: unknown): void => {
  const operation = declared.get(`${method} ${route.replaceAll(/\{[^}]*\}/g, '{}')}`) ?? '';
  const check = shapes.get(operation);
  const found = check === undefined ? ['declares nothing'] : toRowProblems(check(body));
  if (found.length > 0) misfits.push([method, route, found.slice(0, 2)]);
};

const declaration = async (
  method: string,
  [route, path, body]: Asked,
  index: number,
): Promise<string> => {
  const answer = await world.ask(method.toUpperCase(), path, body);
  const { status } = answer.response;
  if (status >= 400) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
  compare(method.toUpperCase(), route, answer.body);
  const type = `Answer<'${route}', '${method}', ${status}>`;
  return `export const ${method}${index}: ${type} = ${JSON.stringify(without(answer.body, undescribed[path] ?? []))};`;
};

const prelude = `import type { paths } from '${root}node_modules/@octokit/openapi-types/types.d.ts';
type Answer<P extends keyof paths, M extends keyof paths[P], S> = paths[P][M] extends {
  responses: infer R;
} ? S extends keyof R ? R[S] extends { content: { 'application/json': infer B } } ? B : never : never : never;
`;

/** Compiles a file and returns the compiler's errors, each with the declaration that contains it. */
const compilerProblems = async (file: string): Promise<string[]> => {
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--pretty', 'false'];
  const tsc = join(root, 'node_modules/.bin/tsc');
  const { stdout } = await promisify(execFile)(tsc, [...options, file], {
    maxBuffer: 64 * 1024 * 1024,
  }).catch((error: { stdout: string }) => error);
  const lines = readFileSync(file, 'utf8').split('\n');
  return stdout
    .split('\n')
    .filter((line) => /error TS/.test(line))
    .map((line) => {
      const at = Number(/\((\d+),/.exec(line)?.[1] ?? 0);
      return `${lines[at - 1]?.slice(0, 120)} … ${line.replace(/^.*?: error /, '')}`;
    });
};

describe('answers of the code host', () => {
  it('are declared for each route that has a body, and so are the route’s parameters', () => {
    const routes = world.contract.api?.routes ?? [];
    const silent = routes.filter(({ status, response }) => status < 202 && !response);
    expect(silent.map(({ operation }) => operation)).toEqual([
      ...['create_check_run', 'update_check_run', 'get_zen'],
      ...['render_markdown', 'render_markdown_raw'],
    ]);
    const takes = (operation: string) =>
      routes.find((route) => route.operation === operation)?.request;
    for (const operation of ['create_issue', 'update_issue', 'merge_pull', 'create_hook']) {
      expect(takes(operation)).toBeDefined();
    }
    expect(routes.find(({ operation }) => operation === 'create_issue')?.status).toBe(201);
  });

  it('match the vendor’s description of its API', async () => {
    const declarations: string[] = [];
    for (const [method, routes] of Object.entries(asked)) {
      for (const [index, route] of routes.entries()) {
        declarations.push(await declaration(method, route, index));
      }
    }
    const file = join(folder, 'answers.ts');
    writeFileSync(file, `${prelude}${declarations.join('\n')}\n`);
    expect(await compilerProblems(file)).toEqual([]);
    expect(misfits).toEqual([]);
  }, 120_000);
});
