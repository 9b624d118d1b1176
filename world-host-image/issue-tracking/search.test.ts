/**
 * Tests the query language of the tracker: which issues a query finds, in which order, and how queries that cannot be
 * parsed are refused.
 */
import { afterAll, describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { openIssueTracker, viewer } from '#test/support/templates/issue-tracker.ts';

const world = await openIssueTracker();
afterAll(() => world.stop());

const found = async (jql: string): Promise<Row[]> => {
  const asked = { jql, maxResults: 1_000, fields: ['*all'] };
  const { status, body } = await world.ask('POST', '/rest/api/3/search', asked);
  if (status !== 200) throw new Error(`${jql}: ${JSON.stringify(body)}`);
  return (body.issues as Row[]).map(({ key, fields }) => ({ key, ...(fields as Row) }));
};
const refusal = async (jql: string): Promise<unknown> => {
  const path = `/rest/api/3/search?jql=${encodeURIComponent(jql)}`;
  const { status, body } = await world.ask('GET', path);
  expect(status, jql).toBe(400);
  return (body.errorMessages as string[])[0];
};

const issues = world.rows('issues', {});
const keysWhere = (holds: (issue: Row) => boolean): string[] =>
  issues
    .filter(holds)
    .map(({ key }) => key as string)
    .sort();
const done = new Set(world.rows('statuses', { category_id: 3 }).map(({ id }) => id));
const ids = (entity: string, name: string): Row => world.rows(entity, { name })[0] as Row;

describe('a query finds', () => {
  const isBug = (issue: Row) => issue.type_id === ids('issue_types', 'Bug').id;
  const berth = (issue: Row) => issue.project_id === 10000;
  it.each<[string, (issue: Row) => boolean]>([
    ['project = BERTH', berth],
    ['project = "berth planner" and type = bug', (one) => berth(one) && isBug(one)],
    [
      'project in (BERTH, 10001) AND NOT issuetype in (Bug, Story)',
      (one) =>
        [10000, 10001].includes(one.project_id as number) &&
        ![10001, 10003].includes(one.type_id as number),
    ],
    ['project != BERTH', (one) => !berth(one)],
    ['statusCategory = Done', (one) => done.has(one.status_id)],
    ['status not in (Done, "Won\'t do", Resolved)', (one) => !done.has(one.status_id)],
    ['resolution = Unresolved', (one) => !one.resolution_id],
    ['resolution is not EMPTY', (one) => Boolean(one.resolution_id)],
    ['assignee is empty', (one) => !one.assignee],
    [
      'assignee = currentUser() or reporter = currentUser()',
      (one) => [one.assignee, one.reporter].includes(viewer),
    ],
    ['assignee != currentUser()', (one) => one.assignee !== null && one.assignee !== viewer],
    [
      'assignee = "sam.okafor@northquay.example"',
      (one) => one.assignee === '5f03e6fa21a700009d617663',
    ],
    ...['"securit\\u0079"', "'s\\u0065curity'", 'securit\\u0079'].map(
      (written): [string, (issue: Row) => boolean] => [
        `labels = ${written}`,
        (one) => (one.labels as string[]).includes('security'),
      ],
    ),
    [
      'assignee = sam.okafor\\u0040northquay.example',
      (one) => one.assignee === '5f03e6fa21a700009d617663',
    ],
    [
      "project = berth\\ planner and status != 'Won\\'t do'",
      (one) => berth(one) && one.status_id !== ids('statuses', "Won't do").id,
    ],
    ['labels = security', (one) => (one.labels as string[]).includes('security')],
    ['labels is EMPTY', (one) => (one.labels as string[]).length === 0],
    [
      'labels not in (billing)',
      (one) => (one.labels as string[]).length > 0 && !(one.labels as string[]).includes('billing'),
    ],
    ['priority >= High', (one) => (one.priority_id as number) <= 2],
    ['priority < Medium', (one) => (one.priority_id as number) > 3],
    ['due < "2025-12-01"', (one) => one.due_date !== null && String(one.due_date) < '2025-12-01'],
    [
      'duedate >= 2025-12-05 AND due <= "2025/12/10"',
      (one) =>
        one.due_date !== null &&
        String(one.due_date) >= '2025-12-05' &&
        String(one.due_date) <= '2025-12-10',
    ],
    [
      'created >= "2025-10-01" and created < "2025-10-15 12:00"',
      (one) =>
        String(one.created) >= '2025-10-01T00:00:00Z' &&
        String(one.created) < '2025-10-15T12:00:00Z',
    ],
    ['updated > now()', () => false],
    ['created < startOfDay(-1w)', () => true],
    ['key in (BERTH-1, sup-2)', (one) => ['BERTH-1', 'SUP-2'].includes(one.key as string)],
    [
      'parent = BERTH-72',
      (one) => one.parent_id === issues.find(({ key }) => key === 'BERTH-72')?.id,
    ],
    ['"Story Points" > 5', (one) => Number((one.custom as Row).customfield_10016 ?? 0) > 5],
    ['cf[10031] = Critical', (one) => (one.custom as Row).customfield_10031 === '10020'],
    [
      'Customer ~ Leith',
      (one) => String((one.custom as Row).customfield_10032 ?? '').includes('Leith'),
    ],
    ['summary ~ invoices', (one) => /\binvoices?\b/i.test(one.summary as string)],
    ['summary ~ "\\"night arrivals\\""', (one) => /night arrivals/i.test(one.summary as string)],
    ['filter = 10001', (one) => berth(one) && isBug(one) && !done.has(one.status_id)],
    [
      'assignee in membersOf("support")',
      (one) =>
        ['5f04bf83253c00009d6ca612', '5f04de7225bf00009d6e3f2b', viewer].includes(
          one.assignee as string,
        ),
    ],
    [
      '(project = OPS OR project = SUP) && priority = Highest',
      (one) => [10002, 10003].includes(one.project_id as number) && one.priority_id === 1,
    ],
  ])('the issues that match %s', async (jql, holds) => {
    expect((await found(jql)).map(({ key }) => key).sort()).toEqual(keysWhere(holds));
  });

  it('issues by components, versions, links, watchers and comments', async () => {
    const links = await found('key in linkedIssues("BERTH-83")');
    expect(links.map(({ key }) => key).sort()).toEqual(['BERTH-84', 'SUP-43']);
    const planned = await found('fixVersion in unreleasedVersions(BERTH)');
    const names = planned.flatMap(({ fixVersions }) =>
      (fixVersions as Row[]).map(({ name }) => name),
    );
    expect(new Set(names)).toEqual(new Set(['3.3', '4.0']));
    for (const one of await found('component = Tariffs')) {
      expect((one.components as Row[]).map(({ name }) => name)).toContain('Tariffs');
    }
    expect((await found('comment ~ "twice a week"')).map(({ key }) => key)).toEqual(['BERTH-102']);
    for (const one of await found('watcher = currentUser()')) {
      expect(one.watches).toMatchObject({ isWatching: true });
    }
  });
});

describe('the order of a query’s results', () => {
  it('can be by several fields, with the highest priority as the largest value, and missing values last', async () => {
    const sorted = await found('project = BERTH ORDER BY priority DESC, key ASC');
    const places = sorted.map(
      ({ priority, key }) =>
        Number((priority as Row).id) * 1_000 + Number(String(key).split('-')[1]),
    );
    expect(places).toEqual([...places].sort((a, b) => a - b));
    const dues = (await found('project = OPS ORDER BY due')).map(({ duedate }) => duedate);
    const given = dues.filter((due) => due !== null);
    expect(dues.slice(0, given.length)).toEqual([...given].sort());
  });
});

describe('an invalid query is refused', () => {
  const valid =
    "The valid operators are '=', '!=', '<', '>', '<=', '>=', '~', '!~', 'IN', 'NOT IN', 'IS' and 'IS NOT'.";
  it.each([
    ['project = NOPE', "The value 'NOPE' does not exist for the field 'project'."],
    ['colour = red', "Field 'colour' does not exist or you do not have permission to view it."],
    ['status ~ open', "The operator '~' is not supported by the 'status' field."],
    ['summary = x', "The operator '=' is not supported by the 'summary' field."],
    [
      'project BERTH',
      `Error in the JQL Query: Expecting operator but got 'BERTH'. ${valid} (line 1, character 9)`,
    ],
    ['project', `Error in the JQL Query: Expecting operator before the end of the query. ${valid}`],
    [
      'project =',
      'Error in the JQL Query: Expecting either a value, list or function before the end of the query.',
    ],
    [
      'project = BERTH type = Bug',
      "Error in the JQL Query: Expecting either 'OR' or 'AND' but got 'type'. (line 1, character 17)",
    ],
    ['(project = BERTH', "Error in the JQL Query: Expecting ')' before the end of the query."],
    [
      'summary ~ "open',
      "Error in the JQL Query: The quoted string 'open' has not been completed. (line 1, character 11)",
    ],
    [
      'project = BERTH\nAND @ = 1',
      "Error in the JQL Query: The character '@' is a reserved JQL character. You must enclose it in a string or use the escape '\\u0040' instead. (line 2, character 5)",
    ],
    ...[
      ['summary ~ "words\\-only"', '\\-', 17],
      ["summary ~ '\\q'", '\\q', 12],
      ['labels = "\\u00g1"', '\\u', 11],
      ['labels = a\\-b', '\\-', 11],
    ].map(([jql, written, at]): [string, string] => [
      String(jql),
      `Error in the JQL Query: '${written}' is an illegal JQL escape sequence. The valid escape sequences are \\', \\", \\t, \\n, \\r, \\\\, '\\ ' and \\uXXXX. (line 1, character ${at})`,
    ]),
    ['assignee = anyone()', "Unable to find JQL function 'anyone()'."],
    [
      'project in BERTH',
      "Operator 'in' does not support the non-list value '\"BERTH\"' for field 'project'.",
    ],
    [
      'due < soon',
      "Date value 'soon' for field 'due' is invalid. Valid formats include: 'yyyy/MM/dd HH:mm', 'yyyy-MM-dd HH:mm', 'yyyy/MM/dd', 'yyyy-MM-dd', or a period format e.g. '-5d', '4w 2d'.",
    ],
    ['key = BERTH-9999', "An issue with key 'BERTH-9999' does not exist for field 'key'."],
    ['project = BERTH ORDER BY comment', "Not able to sort using field 'comment'."],
    [`${'('.repeat(200)}project = BERTH`, 'Error in the JQL Query: The query nests too deeply.'],
  ])('with the tracker’s error: %s', async (jql, message) => {
    expect(await refusal(jql)).toBe(message);
  });

  it('if pages have tokens and the query has no restriction at all', async () => {
    const { status, body } = await world.ask('GET', '/rest/api/3/search/jql?jql=order+by+created');
    expect([status, body.errorMessages]).toEqual([
      400,
      [
        'Unbounded JQL queries are not allowed here. Please add a search restriction to your query.',
      ],
    ]);
  });
});

describe('an answer has the requested fields', () => {
  it.each([
    ['fields=summary,status', ['status', 'summary']],
    ['fields=*all,-comment&maxResults=1', undefined],
  ])('for the parameters %s', async (query, names) => {
    const { body } = await world.ask('GET', `/rest/api/3/search?jql=key=BERTH-72&${query}`);
    const [issue] = body.issues as { fields: Row }[];
    if (names) expect(Object.keys(issue?.fields ?? {}).sort()).toEqual(names);
    else expect(issue?.fields).not.toHaveProperty('comment');
  });

  it('which are only ids if pages have tokens and the request names no field', async () => {
    const { body } = await world.ask('GET', '/rest/api/3/search/jql?jql=key=BERTH-72');
    expect(body).toEqual({ issues: [{ id: expect.stringMatching(/^\d+$/) }], isLast: true });
  });
});
