/**
 * Tests that the tracker answers any request as the vendor would, and never with an internal error. Bodies and
 * parameters combine names that its routes know with values that they do not expect.
 */
import { expect, it } from 'vitest';
import type { RouteContract } from '#language/contract.ts';
import { writePath } from '#language/path-segments.ts';
import { serveIssueTracker, viewer } from '#test/support/templates/issue-tracker.ts';

const known: Record<string, string[]> = {
  issueIdOrKey: ['BERTH-72', 'TIDE-3', '10100', 'berth-1', 'NOPE-1', '-1', 'x'],
  projectIdOrKey: ['BERTH', '10001', 'nope', '0'],
  id: ['10000', '10003', '10900', '1', 'x', '99999999999999999999'],
  issueTypeId: ['10003', 'x'],
  issueLinkTypeId: ['10000', 'x'],
  linkId: ['10000', 'x'],
  idOrName: ['Done', '10000', 'x'],
  idOrKey: ['done', '2', 'x'],
  propertyKey: ['seen', 'x'.repeat(300)],
};

const fields = [
  ...['project', 'issuetype', 'summary', 'description', 'environment', 'priority', 'assignee'],
  ...['reporter', 'labels', 'components', 'fixVersions', 'versions', 'duedate', 'parent'],
  ...['timetracking', 'resolution', 'customfield_10016', 'customfield_10031', 'customfield_10032'],
  ...['customfield_10033', 'customfield_10034', 'comment', 'worklog', 'issuelinks', 'creator'],
];

const members = [
  ...['body', 'visibility', 'timeSpent', 'timeSpentSeconds', 'started', 'transition', 'accountId'],
  ...['name', 'description', 'key', 'leadAccountId', 'projectTypeKey', 'assigneeType', 'project'],
  ...['projectId', 'startDate', 'releaseDate', 'released', 'archived', 'moveUnfixedIssuesTo'],
  ...['type', 'inwardIssue', 'outwardIssue', 'inward', 'outward', 'object', 'globalId', 'url'],
  ...['events', 'filters', 'secret', 'enabled', 'webhooks', 'webhookIds', 'jql', 'jqls', 'queries'],
  ...[
    'issueIds',
    'issueIdsOrKeys',
    'ids',
    'maxResults',
    'startAt',
    'nextPageToken',
    'expand',
    'to',
  ],
  ...['issueUpdates', 'favourite', 'excludeBody', 'moveFixIssuesTo', 'application', 'relationship'],
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
    'x'.repeat(300),
    '2025-01-01',
    '\u0000',
    '99d',
  ],
  ...[[], ['x'], [5], [null], [{}], [[]], [{ add: 'x' }], [{ add: { body: 5 } }], [{ set: 5 }], {}],
  ...[
    { name: 5 },
    { id: 'x' },
    { key: 'BERTH-1' },
    { name: 'Bug' },
    { key: 'BERTH' },
    { id: '10000' },
  ],
  ...[{ accountId: viewer }, { value: {} }, { originalEstimate: [] }, { url: 'https://a.example' }],
  ...[
    { type: 'doc', version: 1, content: 5 },
    { type: 'doc', version: 1, content: [{ type: 'text' }] },
  ],
  ...[{ type: 'doc', version: 1, content: [{ type: 'x', attrs: { level: [] }, marks: [5] }] }],
];

/** Builds a document whose only node is invalid. */
const brokenBy = (node: unknown) => ({ type: 'doc', version: 1, content: [node] });
const brokenDocuments = [
  { type: 'text', text: 'a', marks: [5] },
  { type: 'text', text: 'a', marks: [{ type: [] }] },
  {
    type: 'paragraph',
    content: [{ type: 'text', text: 'a', marks: [{ type: 'link', attrs: 5 }] }],
  },
  { type: 'text', text: 5 },
  { type: 5 },
  { type: 'paragraph', content: [null] },
  { type: 'heading', attrs: { level: [] }, content: [{ type: 'mention', attrs: { id: {} } }] },
].map(brokenBy);

const texts = [
  ...['', 'x', '0', '-1', '1e9', '*', '*all', '-', '"', 'true', '..', 'é', 'BERTH', viewer],
  ...['project = BERTH', 'due < ', 'key in (', '10000', '-created', 'startOfDay(', 'WyJhIl0='],
];

/** Makes a generator of pseudo-random choices, the same in each run. */
const createDice = (seed: number) => {
  let state = seed;
  return <Item>(items: readonly Item[]): Item => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return items[Math.floor((state / 2 ** 32) * items.length)] as Item;
  };
};

const times = 6;
const world = await serveIssueTracker();
const draw = createDice(11);

const pathOf = (route: RouteContract): string => {
  const path = writePath(route.segments, (name) => draw(known[name] ?? ['x']));
  const query = route.params.map(({ name }) => `${name}=${encodeURIComponent(draw(texts))}`);
  const asked = query.filter(() => draw([true, false]));
  const versioned = path.replace('/rest/api/3', draw(['/rest/api/3', '/rest/api/2']));
  return `${versioned}${asked.length === 0 ? '' : `?${asked.join('&')}`}`;
};

const some = (names: readonly string[], count: number): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, () => [draw(names), draw(values)]));

const bodyOf = (): unknown => {
  if (draw([0, 1, 2, 3, 4, 5, 6, 7]) === 0) return draw(values);
  const edits = { fields: some(fields, 3), update: some(fields, draw([0, 1])) };
  const begun = { project: { key: 'BERTH' }, issuetype: { name: 'Bug' }, summary: 'x' };
  const made = { ...edits, fields: draw([edits.fields, { ...begun, ...some(fields, 1) }]) };
  return { ...some(members, 5), ...draw([{}, made]) };
};

it('odd requests are answered in the vendor’s form, and never with an internal error', async () => {
  const faults: unknown[] = [];
  for (const route of world.contract.api?.routes ?? []) {
    for (let time = 0; time < times; time += 1) {
      const path = pathOf(route);
      const body = route.method === 'GET' ? undefined : bodyOf();
      const { status, body: answer } = await world.ask(route.method, path, body);
      if (status >= 500) faults.push([route.method, path, JSON.stringify(body), answer]);
    }
  }
  expect(faults).toEqual([]);
}, 120_000);

it('malformed documents are refused, and accepted ones can be read in every form', async () => {
  for (const body of brokenDocuments) {
    const made = await world.ask('POST', '/rest/api/3/issue/BERTH-1/comment', { body });
    expect([201, 400]).toContain(made.status);
  }
  for (const version of ['2', '3']) {
    const path = `/rest/api/${version}/issue/BERTH-1/comment?expand=renderedBody`;
    expect((await world.ask('GET', path)).status).toBe(200);
  }
  const found = await world.ask('GET', '/rest/api/3/search?jql=comment~a');
  expect(found.status).toBe(200);
});

it('impossible durations of work are refused', async () => {
  for (const timeSpent of [`${'9'.repeat(400)}h`, '99999999999999w', '1x', '-1h']) {
    const made = await world.ask('POST', '/rest/api/3/issue/BERTH-1/worklog', { timeSpent });
    expect([made.status, made.body]).toMatchObject([
      400,
      { errors: { timeLogged: expect.any(String) } },
    ]);
  }
});
