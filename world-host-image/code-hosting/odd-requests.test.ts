/**
 * Tests that the code host answers any request as the vendor would, and never with an internal error. Bodies and
 * parameters combine names that its routes know with values that they do not expect.
 */
import { describe, expect, it } from 'vitest';
import type { RouteContract } from '#language/contract.ts';
import { writePath } from '#language/path-segments.ts';
import { serveCodeHost } from '#test/support/templates/code-hosting.ts';

const known: Record<string, string[]> = {
  owner: ['northquay', 'mikkelh'],
  repo: ['berth', 'marstal-tides', 'none'],
  org: ['northquay', 'mikkelh'],
  username: ['sam-okafor', 'northquay'],
  issue_number: ['139', '150', '0', 'x'],
  pull_number: ['150', '153', '139'],
  milestone_number: ['3', '77'],
  comment_id: ['3275316640', '2360117845', '1'],
  review_id: ['3441027718', '1'],
  hook_id: ['1'],
  event_id: ['15862204119', 'x'],
  autolink_id: ['41'],
  branch: ['main', 'danish-plads', 'none'],
  ref: ['heads%2Fdanish-plads', 'main', '%20'],
  name: ['bug', 'none'],
  release_id: ['249077205', '262540318', '1'],
  asset_id: ['296215561', '1'],
  tag: ['v2.7.0', 'none'],
  path: ['README.md', 'server', 'docs/new.md', '..'],
  dir: ['server', ''],
  basehead: ['main...danish-plads', 'v2.6.0...main', 'main', '...'],
  tree_sha: ['main', 'none'],
  commit_sha: ['ea971acdeea7783b9d999af454bd15ec05002f51', 'x'],
  sha: ['ea971acdeea7783b9d999af454bd15ec05002f51', 'x'],
  check_run_id: ['54910233113', '1'],
  reaction_id: ['291044107', '1'],
  team_slug: ['product', 'none'],
  thread_id: ['18210443301', '1'],
  repository_id: ['612340551', '1'],
  account_id: ['33519027', 'x'],
};

const fields = [
  ...['title', 'body', 'state', 'state_reason', 'labels', 'assignees', 'assignee', 'milestone'],
  ...['name', 'new_name', 'color', 'description', 'due_on', 'homepage', 'private', 'visibility'],
  ...['default_branch', 'names', 'auto_init', 'head', 'base', 'draft', 'sha', 'merge_method'],
  ...['commit_title', 'reviewers', 'event', 'comments', 'commit_id', 'path', 'line', 'in_reply_to'],
  ...['tag_name', 'target_commitish', 'make_latest', 'prerelease', 'content', 'permission', 'role'],
  ...['privacy', 'repo_names', 'maintainers', 'team_reviewers', 'force', 'context', 'last_read_at'],
  ...['read', 'ignored', 'archived', 'expected_head_sha', 'branch', 'url', 'previous_tag_name'],
  ...['message', 'config', 'events', 'add_events', 'remove_events', 'active', 'ref', 'lock_reason'],
];

const values: unknown[] = [
  ...[
    null,
    true,
    0,
    -1,
    1.5,
    2 ** 60,
    '',
    ' ',
    'x',
    'main',
    'x'.repeat(300),
    '2025-01-01',
    '\u0000',
  ],
  ...[
    [],
    ['x'],
    [5],
    [null],
    [{}],
    [[]],
    ['sam-okafor'],
    {},
    { name: 5 },
    { url: 5 },
    { url: 'x' },
  ],
  ...[{ url: 'https://a.example', events: 5, secret: {} }, [{ path: 'x', body: 'y', line: 'z' }]],
];

const texts = [
  '',
  'x',
  '0',
  '-1',
  '1e9',
  '*',
  'none',
  'is:',
  '-',
  '"',
  'created:>',
  'label:"',
  '..',
  'é',
];

/** Makes a generator of pseudo-random choices, the same in each run. */
const createDice = (seed: number) => {
  let state = seed;
  return <Item>(items: readonly Item[]): Item => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return items[Math.floor((state / 2 ** 32) * items.length)] as Item;
  };
};

const times = 5;

const world = await serveCodeHost();

const draw = createDice(7);

/** Row of a webhook; the world has none initially. */
const hook = {
  ...{ id: 1, owner: 'northquay', repo: 'berth', repositories: ['northquay/berth'] },
  ...{ active: true, events: ['issues'], url: 'https://a.example', secret: 's' },
  ...{ content_type: 'json', insecure_ssl: '0' },
  ...{ created_at: '2025-11-17T08:00:00Z', updated_at: '2025-11-17T08:00:00Z' },
};

const pathOf = (route: RouteContract): string => {
  const path = writePath(route.segments, (name) => draw(known[name] ?? ['x']));
  const query = route.params.map(({ name }) => `${name}=${encodeURIComponent(draw(texts))}`);
  const asked = query.filter(() => draw([true, false]));
  return `${path}${asked.length === 0 ? '' : `?${asked.join('&')}`}`;
};

const bodyOf = (): unknown => {
  if (draw([0, 1, 2, 3, 4, 5]) === 0) return draw(values);
  return Object.fromEntries([1, 2, 3, 4].map(() => [draw(fields), draw(values)]));
};

describe('odd requests', () => {
  it('are answered in the vendor’s form, and never with an internal error', async () => {
    const faults: unknown[] = [];
    for (const route of world.contract.api?.routes ?? []) {
      await world.call('seed', 'seed', { rows: { hooks: [hook] } });
      for (let time = 0; time < times; time += 1) {
        const path = pathOf(route);
        const body = route.method === 'GET' ? undefined : bodyOf();
        const { response } = await world.ask(route.method, path, body);
        if (response.status >= 500) faults.push([route.method, path, JSON.stringify(body)]);
      }
      await world.reset();
    }
    expect(faults).toEqual([]);
  }, 60_000);
});
