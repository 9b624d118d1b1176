/**
 * Tests everyday work of the vendor's JavaScript client on a session of `issue-tracking`. The client checks each
 * answer against the shapes that the vendor describes, and throws if one does not fit.
 */
import { ApiError, AuthError, NotFoundError } from 'jira.js';
import { describe, expect, it } from 'vitest';
import { documentOf, serveIssueTracker, viewer } from '#test/support/templates/issue-tracker.ts';

const world = await serveIssueTracker();
const berth = { project: { key: 'BERTH' }, issuetype: { name: 'Bug' } };

const errorOf = async (call: Promise<unknown>): Promise<ApiError> => {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(outcome instanceof ApiError)) throw new Error(`it was answered otherwise: ${outcome}`);
  return outcome;
};

describe('the metadata that clients read first', () => {
  it('matches the vendor’s description', async () => {
    const jira = world.client();
    const all = await Promise.all([
      jira.serverInfo.getServerInfo(),
      jira.myself.getCurrentUser(),
      jira.permissions.getMyPermissions({ permissions: 'BROWSE_PROJECTS,CREATE_ISSUES' }),
      jira.permissions.getAllPermissions(),
      jira.issueFields.getFields(),
      jira.issueFields.getFieldsPaginated({ query: 'due' }),
      jira.issueTypes.getIssueAllTypes(),
      jira.issueTypes.getIssueType({ id: '10003' }),
      jira.issuePriorities.searchPriorities(),
      jira.issuePriorities.getPriority({ id: '1' }),
      jira.issueResolutions.getResolution({ id: '10000' }),
      jira.workflowStatuses.getStatuses(),
      jira.workflowStatuses.getStatus({ idOrName: 'In Review' }),
      jira.status.search(),
      jira.workflowStatusCategories.getStatusCategories(),
      jira.labels.getAllLabels(),
      jira.projectRoles.getAllProjectRoles(),
      jira.groups.getUsersFromGroup({ groupname: 'developers' }),
      jira.groups.findGroups({ query: 'dev' }),
      jira.users.getUser({ accountId: viewer, expand: ['groups'] }),
      jira.users.getAllUsers(),
      jira.userSearch.findUsers({ query: 'priya' }),
      jira.userSearch.findUsersForPicker({ query: 'sam' }),
      jira.userSearch.findAssignableUsers({ project: 'BERTH', query: 'o' }),
    ]);
    expect(all).toHaveLength(24);
    expect(all[1]).toMatchObject({ accountId: viewer, displayName: 'Quay Triage' });
    expect(all[21]).toMatchObject([{ displayName: 'Priya Raman' }]);
  });
});

describe('projects', () => {
  it('are listed, and returned with all their parts', async () => {
    const jira = world.client();
    const page = await jira.projects.searchProjects({ maxResults: 2, expand: 'lead,description' });
    expect(page).toMatchObject({ total: 4, isLast: false });
    expect(page.values?.map(({ key }) => key)).toEqual(['BERTH', 'OPS']);
    const project = await jira.projects.getProject({ projectIdOrKey: 'TIDE' });
    expect(project).toMatchObject({ id: '10001', lead: { displayName: 'Tobias Wendt' } });
    const here = { projectIdOrKey: 'BERTH' };
    expect(await jira.projectComponents.getProjectComponents(here)).toHaveLength(5);
    expect(await jira.projectComponents.getProjectComponentsPaginated(here)).toMatchObject({
      total: 5,
    });
    expect(await jira.projectVersions.getProjectVersions(here)).toHaveLength(5);
    expect(
      (await jira.projectVersions.getProjectVersionsPaginated({ ...here, status: 'unreleased' }))
        .total,
    ).toBe(2);
    expect(await jira.projects.getAllStatuses(here)).toHaveLength(5);
    await jira.projectRoles.getProjectRole({ ...here, id: 10003 });
    const missing = await errorOf(jira.projects.getProject({ projectIdOrKey: 'NOPE' }));
    expect(missing).toBeInstanceOf(NotFoundError);
    expect(missing.body).toEqual({
      errorMessages: ["No project could be found with key 'NOPE'."],
      errors: {},
    });
  });

  it('can get components and versions, which issues can then use', async () => {
    const jira = world.client();
    const component = await jira.projectComponents.createComponent({
      name: 'Locks',
      project: 'TIDE',
    });
    const version = await jira.projectVersions.createVersion({
      name: '2.1',
      projectId: 10001,
      releaseDate: '2026-03-01',
    });
    const made = await jira.issues.createIssue({
      fields: {
        project: { key: 'TIDE' },
        issuetype: { name: 'Task' },
        summary: 'Locks',
        components: [{ id: component.id }],
        fixVersions: [{ name: '2.1' }],
      } as never,
    });
    const id = version.id as string;
    expect(await jira.projectVersions.getVersionRelatedIssues({ id })).toMatchObject({
      issuesFixedCount: 1,
    });
    expect(
      await jira.projectVersions.updateVersion({ id, body: { released: true } }),
    ).toMatchObject({ released: true });
    expect(
      (await errorOf(jira.projectVersions.createVersion({ name: '2.1', projectId: 10001 }))).body,
    ).toMatchObject({
      errors: { name: 'A version with this name already exists in this project.' },
    });
    await jira.projectVersions.deleteAndReplaceVersion({ id, moveFixIssuesTo: 10012 });
    await jira.projectComponents.deleteComponent({ id: component.id as string });
    const issue = await jira.issues.getIssue({ issueIdOrKey: made.key as string });
    expect(issue.fields).toMatchObject({ components: [], fixVersions: [{ name: '2.0' }] });
  });
});

describe('issues', () => {
  it('are created, edited, assigned, moved and deleted, with a history', async () => {
    const jira = world.client();
    const made = await jira.issues.createIssue({
      fields: {
        ...berth,
        summary: 'Cranes collide',
        description: documentOf('At noon.'),
        priority: { name: 'High' },
        labels: ['cranes'],
        duedate: '2026-01-02',
        customfield_10016: 5,
        customfield_10031: { value: 'Major' },
      } as never,
    });
    expect(made).toMatchObject({
      key: 'BERTH-121',
      self: expect.stringContaining(`${world.url}/rest/api/3/issue/`),
    });
    const issueIdOrKey = made.key as string;
    await jira.issues.editIssue({
      issueIdOrKey,
      fields: { summary: 'Two cranes collide' },
      update: {
        labels: [{ add: 'quay' }, { remove: 'cranes' }],
        components: [{ add: { name: 'Planner' } }],
      } as never,
    });
    await jira.issues.assignIssue({ issueIdOrKey, accountId: viewer } as never);
    const { transitions } = await jira.issues.getTransitions({ issueIdOrKey });
    const start = transitions?.find(({ name }) => name === 'Start progress');
    await jira.issues.doTransition({ issueIdOrKey, transition: { id: start?.id as string } });
    const done = (await jira.issues.getTransitions({ issueIdOrKey })).transitions?.find(
      ({ name }) => name === 'Done',
    );
    await jira.issues.doTransition({
      issueIdOrKey,
      transition: { id: done?.id as string },
      fields: { resolution: { name: 'Duplicate' } } as never,
    });
    const issue = await jira.issues.getIssue({
      issueIdOrKey,
      expand: 'changelog,names,renderedFields,transitions' as never,
    });
    expect(issue.fields).toMatchObject({
      summary: 'Two cranes collide',
      labels: ['quay'],
      components: [{ name: 'Planner' }],
      assignee: { accountId: viewer },
      status: { name: 'Done', statusCategory: { key: 'done' } },
      resolution: { name: 'Duplicate' },
      customfield_10016: 5,
      customfield_10031: { value: 'Major' },
      duedate: '2026-01-02',
      resolutiondate: expect.stringMatching(/\.000\+0000$/),
    });
    const log = await jira.issues.getChangeLogs({ issueIdOrKey });
    expect(log.values?.flatMap(({ items }) => items?.map(({ field }) => field))).toEqual([
      ...['summary', 'labels', 'Component', 'assignee', 'status', 'status', 'resolution'],
    ]);
    await jira.issues.deleteIssue({ issueIdOrKey });
    expect(await errorOf(jira.issues.getIssue({ issueIdOrKey }))).toBeInstanceOf(NotFoundError);
  });

  it('are refused in the vendor’s words, with all problems at once', async () => {
    const jira = world.client();
    const wrong = await errorOf(
      jira.issues.createIssue({
        fields: {
          ...berth,
          summary: '',
          priority: { name: 'Urgent' },
          components: [{ name: 'Nowhere' }],
          labels: ['a b'],
          duedate: 'soon',
          nonsense: 1,
          assignee: { accountId: 'nemo' },
        } as never,
      }),
    );
    expect(wrong.status).toBe(400);
    expect(wrong.body).toEqual({
      errorMessages: [],
      errors: {
        summary: 'You must specify a summary of the issue.',
        priority: 'The priority selected is invalid.',
        components: "Component name 'Nowhere' is not valid",
        labels: "The label 'a b' contains spaces which is invalid.",
        duedate: 'Error parsing date string: soon',
        nonsense:
          "Field 'nonsense' cannot be set. It is not on the appropriate screen, or unknown.",
        assignee: "User 'nemo' does not exist.",
      },
    });
    const none = await errorOf(
      jira.issues.createIssue({ fields: { project: { key: 'NOPE' } } as never }),
    );
    expect(none.body).toMatchObject({ errors: { project: 'Specify a valid project ID or key' } });
    const step = await errorOf(
      jira.issues.doTransition({ issueIdOrKey: 'BERTH-1', transition: { id: '999' } }),
    );
    expect(step.body).toMatchObject({
      errorMessages: ["Transition id '999' is not valid for this issue."],
    });
    expect(await errorOf(world.client('wrong').myself.getCurrentUser())).toBeInstanceOf(AuthError);
  });

  it('report which of their fields can be set', async () => {
    const jira = world.client();
    const types = await jira.issues.getCreateIssueMetaIssueTypes({ projectIdOrKey: 'BERTH' });
    expect(types.issueTypes?.map(({ name }) => name)).toContain('Bug');
    const fields = await jira.issues.getCreateIssueMetaIssueTypeId({
      projectIdOrKey: 'BERTH',
      issueTypeId: '10003',
    });
    expect(
      fields.fields
        ?.filter(({ required }) => required)
        .map(({ key }) => key)
        .sort(),
    ).toEqual(['issuetype', 'project', 'reporter', 'summary']);
    const edit = await jira.issues.getEditIssueMeta({ issueIdOrKey: 'BERTH-2' });
    expect(Object.keys(edit.fields ?? {})).toContain('customfield_10031');
  });

  it('accept rich text as documents and as version 2 markup, and return it in both forms', async () => {
    const jira = world.client();
    const markup =
      'h2. Steps\n\n* open *Leith*\n* move {{BERTH-2}}\n\nSee [the notes|https://docs.example/a].';
    const made = await jira.issueComments.addComment({
      issueIdOrKey: 'BERTH-2',
      body: markup,
    } as never);
    const { body } = await world.ask('POST', '/rest/api/2/issue/BERTH-2/comment', { body: markup });
    expect(body.body).toBe(markup);
    const read = await jira.issueComments.getComment({
      issueIdOrKey: 'BERTH-2',
      id: String(body.id),
    });
    expect(read.body).toMatchObject({
      type: 'doc',
      content: [{ type: 'heading' }, { type: 'bulletList' }, { type: 'paragraph' }],
    });
    expect(made.body).toEqual(read.body);
    const refused = await world.ask('POST', '/rest/api/3/issue/BERTH-2/comment', { body: 'plain' });
    expect(refused.body.errors).toEqual({
      comment: 'Operation value must be an Atlassian Document (see the Atlassian Document Format)',
    });
  });
});

describe('additions to issues', () => {
  it('include comments, worklogs, links, watchers and votes', async () => {
    const jira = world.client();
    const issueIdOrKey = 'BERTH-109';
    const comment = await jira.issueComments.addComment({
      issueIdOrKey,
      body: documentOf('Mine'),
    } as never);
    const id = comment.id as string;
    expect(
      (
        await jira.issueComments.updateComment({
          issueIdOrKey,
          id,
          body: { body: documentOf('Yours') },
        } as never)
      ).body,
    ).toEqual(documentOf('Yours'));
    await jira.issueComments.getComments({ issueIdOrKey });
    await jira.issueComments.deleteComment({ issueIdOrKey, id });
    const work = await jira.issueWorklogs.addWorklog({
      issueIdOrKey,
      timeSpent: '1h 30m',
      started: '2025-11-24T09:00:00.000+0100',
    } as never);
    expect(work).toMatchObject({
      timeSpentSeconds: 5400,
      timeSpent: '1h 30m',
      started: new Date('2025-11-24T08:00:00Z'),
    });
    await jira.issueWorklogs.updateWorklog({
      issueIdOrKey,
      id: work.id as string,
      body: { timeSpentSeconds: 60 },
      timeSpentSeconds: 60,
    } as never);
    await jira.issueWorklogs.deleteWorklog({ issueIdOrKey, id: work.id as string });
    await jira.issueLinks.linkIssues({
      type: { name: 'Blocks' },
      inwardIssue: { key: 'BERTH-2' },
      outwardIssue: { key: issueIdOrKey },
    } as never);
    const issue = await jira.issues.getIssue({ issueIdOrKey, fields: ['issuelinks'] });
    const [link] = (issue.fields?.issuelinks ?? []) as {
      id: string;
      inwardIssue: { key: string };
    }[];
    expect(link?.inwardIssue.key).toBe('BERTH-2');
    await jira.issueLinks.getIssueLink({ linkId: link?.id as string });
    await jira.issueLinks.deleteIssueLink({ linkId: link?.id as string });
    const types = await jira.issueLinkTypes.getIssueLinkTypes();
    expect(types.issueLinkTypes?.map(({ name }) => name)).toEqual([
      'Blocks',
      'Cloners',
      'Duplicate',
      'Relates',
    ]);
    const remote = { url: 'https://docs.example/a', title: 'Notes' };
    const made = await jira.issueRemoteLinks.createOrUpdateRemoteIssueLink({
      issueIdOrKey,
      globalId: 'a=1',
      object: remote,
    } as never);
    expect(
      await jira.issueRemoteLinks.getRemoteIssueLinkById({ issueIdOrKey, linkId: String(made.id) }),
    ).toMatchObject({ object: remote });
    await world.ask('POST', `/rest/api/3/issue/${issueIdOrKey}/watchers`, viewer);
    expect(await jira.issueWatchers.getIssueWatchers({ issueIdOrKey })).toMatchObject({
      isWatching: true,
    });
    await jira.issueWatchers.removeWatcher({ issueIdOrKey, accountId: viewer });
    await jira.issueVotes.addVote({ issueIdOrKey });
    await jira.issueVotes.getVotes({ issueIdOrKey });
  });
});

describe('files of issues', () => {
  it('are accepted whatever their bytes, with their true sizes', async () => {
    const image = Buffer.from([
      0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0xff, 0xc3, 0x28,
    ]);
    const attach = async (body: FormData | string, headers: Record<string, string> = {}) => {
      const authorization = `Bearer ${world.token}`;
      const url = `${world.url}/rest/api/3/issue/BERTH-72/attachments`;
      const all = { authorization, 'x-atlassian-token': 'no-check', ...headers };
      const response = await fetch(url, { method: 'POST', headers: all, body });
      return { status: response.status, body: await response.json() };
    };
    const form = new FormData();
    form.append('file', new Blob([image], { type: 'image/png' }), 'Brücke.png');
    form.append('file', new Blob(['Brücke auf\n']), 'server.log');
    expect(await attach(form)).toMatchObject({
      status: 200,
      body: [
        { filename: 'Brücke.png', mimeType: 'image/png', size: image.length },
        { filename: 'server.log', size: 12 },
      ],
    });
    const type = { 'content-type': 'multipart/form-data; boundary=b' };
    const named = `--b\r\nContent-Disposition: form-data; name="file"; filename*=UTF-8''%E6%A9%8B%C3%BC\r\n\r\nx\r\n--b--\r\n`;
    expect((await attach(named, type)).body).toMatchObject([{ filename: '橋ü', size: 1 }]);
    expect(await attach('no form', type)).toMatchObject({ status: 400 });
  });
});

describe('the search', () => {
  it('returns every issue once by page tokens, even while other issues are created', async () => {
    const jira = world.client();
    const seen: string[] = [];
    let nextPageToken: string | undefined;
    do {
      const page = await jira.issueSearch.searchAndReconsileIssuesUsingJql({
        jql: 'project in (BERTH, TIDE, OPS, SUP) ORDER BY created DESC',
        fields: ['summary'],
        maxResults: 50,
        ...(nextPageToken ? { nextPageToken } : {}),
      });
      seen.push(...(page.issues ?? []).map(({ key }) => key as string));
      nextPageToken = page.nextPageToken ?? undefined;
      if (seen.length === 50)
        await jira.issues.createIssue({ fields: { ...berth, summary: 'New' } as never });
    } while (nextPageToken);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toHaveLength(291);
  });

  it('can count issues, match given issues, and read issues by their keys', async () => {
    const jira = world.client();
    const jql = 'project = BERTH AND statusCategory != Done';
    const { count } = await jira.issueSearch.countIssues({ jql });
    const old = await world.ask(
      'GET',
      `/rest/api/2/search?jql=${encodeURIComponent(jql)}&maxResults=1&fields=summary`,
    );
    expect(old.body).toMatchObject({ startAt: 0, maxResults: 1, total: count });
    await jira.jql.parseJqlQueries({ queries: [jql], validation: 'strict' } as never);
  });
});
