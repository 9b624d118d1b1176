/** Tests files, refs, comparisons and merges of the code host, through the vendor's client. */
import { describe, expect, it } from 'vitest';
import {
  errorOf,
  notFound,
  pull,
  refused,
  repository,
  serveCodeHost,
} from '#test/support/templates/code-hosting.ts';

const world = await serveCodeHost();
const tip = 'ea971acdeea7783b9d999af454bd15ec05002f51';

const encoded = (text: string) => Buffer.from(text).toString('base64');
const decoded = (text: string) => Buffer.from(text, 'base64').toString();

type File = { type: string; sha: string; content: string; name: string; size: number };

const read = async (path: string, ref?: string) => {
  const asked = { ...repository, path, ...(ref === undefined ? {} : { ref }) };
  return (await world.client().repos.getContent(asked)).data as File;
};
const branch = async (name: string, sha = tip) => {
  await world.client().git.createRef({ ...repository, ref: `refs/heads/${name}`, sha });
  return name;
};
const write = async (name: string, path: string, text: string, more: object = {}) => {
  const file = { path, branch: name, message: `Write ${path}`, content: encoded(text) };
  return world.client().repos.createOrUpdateFileContents({ ...repository, ...file, ...more });
};

describe('files', () => {
  it('are read at a commit, a branch or a tag', async () => {
    const colors = 'web/src/map/colors.ts';
    expect(decoded((await read(colors)).content)).toContain("reserved: '#b06f00'");
    expect(decoded((await read(colors, 'v2.6.0')).content)).toContain("reserved: '#f0b35a'");
    const short = await read('web/src/i18n/da.json', 'danish-plads');
    expect(decoded(short.content)).toContain('"Plads"');
    expect(short.size).toBe(Buffer.byteLength(decoded(short.content)));
    expect(await errorOf(read('none'))).toEqual(notFound);
    expect(await errorOf(read('README.md', 'none'))).toEqual(
      refused(404, 'No commit found for the ref none'),
    );
  });

  it('are listed by folder and as a tree, and can be read by their ids', async () => {
    const names = ((await read('server')) as unknown as File[]).map(({ name, type }) => [
      name,
      type,
    ]);
    expect(names).toContainEqual(['health.ts', 'file']);
    expect(names).toContainEqual(['mail', 'dir']);
    const asked = { ...repository, tree_sha: 'main', recursive: '1' };
    const { data } = await world.client().git.getTree(asked);
    const folder = data.tree.find(({ path }) => path === 'server/mail');
    const file = data.tree.find(({ path }) => path === 'server/mail/worker.ts');
    expect([folder?.type, file?.mode]).toEqual(['tree', '100644']);
    const inner = await world.client().git.getTree({ ...repository, tree_sha: folder?.sha ?? '' });
    expect(inner.data.tree.map(({ path }) => path)).toEqual(['reminders.ts', 'worker.ts']);
    const blob = await world.client().git.getBlob({ ...repository, file_sha: file?.sha ?? '' });
    expect(decoded(blob.data.content)).toContain('customer: mail.customerId');
  });

  it('of a thousand commits are searched for the unknown id of a tree within the time limit of a handler', async () => {
    const shaOf = (index: number) => String(index).padStart(40, '0');
    const numbers = Array.from({ length: 1_000 }, (_, index) => index);
    const commits = numbers.map((index) => ({
      ...repository,
      ...{ sha: shaOf(index), parents: index === 0 ? [] : [shaOf(index - 1)] },
      ...{ message: `Commit ${index}`, author: 'mikkelh', files: [] },
      committed_at: '2025-11-17T08:00:00Z',
    }));
    const file_versions = numbers.map((index) => ({
      ...{ ...repository, commit: shaOf(index), path: `folder-${index}/a.txt` },
      ...{ content: 'a', encoding: 'utf-8' },
    }));
    const { error } = await world.call('seed', 'seed', { rows: { commits, file_versions } });
    expect(error).toBeUndefined();
    const asked = { ...repository, tree_sha: 'f'.repeat(40) };
    expect(await errorOf(world.client().git.getTree(asked))).toEqual(notFound);
  });

  it('of former commits can be read by the ids of their folders', async () => {
    const treeOf = async (tree_sha: string) =>
      (await world.client().git.getTree({ ...repository, tree_sha, recursive: '1' })).data.tree;
    const idOf = async () => (await treeOf('main')).find(({ path }) => path === 'notes')?.sha ?? '';
    const at = { branch: 'main', message: 'Note' };
    const put = async (path: string, sha?: string) =>
      await world.client().repos.createOrUpdateFileContents({
        ...{ ...repository, ...at, path, content: encoded(path + String(sha)) },
        ...(sha === undefined ? {} : { sha }),
      });
    const b = (await put('notes/b.md')).data.content?.sha;
    const first = await idOf();
    await put('notes/a.md');
    const second = await idOf();
    await put('notes/b.md', b);
    const file = { path: 'notes/a.md', sha: (await read('notes/a.md')).sha };
    await world.client().repos.deleteFile({ ...repository, ...at, ...file });
    const pathsOf = async (sha: string) => (await treeOf(sha)).map(({ path }) => path);
    expect(await pathsOf(first)).toEqual(['b.md']);
    expect(await pathsOf(second)).toEqual(['a.md', 'b.md']);
    expect(await pathsOf(await idOf())).toEqual(['b.md']);
  });

  it('include a repository’s readme and licence; its contributors are listed', async () => {
    const readme = await world.client().repos.getReadme(repository);
    expect(decoded(readme.data.content)).toMatch(/^# Berth/);
    const raw = await world
      .client()
      .repos.getReadme({ ...repository, mediaType: { format: 'raw' } });
    expect(raw.data).toMatch(/^# Berth/);
    const feed = { owner: 'northquay', repo: 'tide-feed' };
    const license = await world.client().licenses.getForRepo(feed);
    expect(license.data.license?.spdx_id).toBe('MIT');
    expect(await errorOf(world.client().licenses.getForRepo(repository))).toEqual(notFound);
    const languages = await world.client().repos.listLanguages(repository);
    expect(Object.keys(languages.data)[0]).toBe('TypeScript');
    const { data } = await world.client().repos.listContributors(repository);
    expect(data.map(({ login, contributions }) => [login, contributions])).toEqual([
      ['sam-okafor', 2],
      ['inesmarchetti', 2],
      ['tobias-wendt', 2],
      ['priyaraman', 1],
    ]);
    const tags = await world.client().repos.listTags(repository);
    expect(tags.data.map(({ name }) => name)).toEqual(['v2.7.0', 'v2.6.0']);
  });

  it('are written, each write in a commit of its own', async () => {
    const name = await branch('docs/arrivals');
    const made = await write(name, 'docs/arrivals.md', '# Arrivals\n');
    expect(made.status).toBe(201);
    expect(made.data.content).toMatchObject({ name: 'arrivals.md', path: 'docs/arrivals.md' });
    const sha = made.data.content?.sha ?? '';
    expect(await errorOf(write(name, 'docs/arrivals.md', '# Late\n'))).toEqual(
      refused(422, 'Invalid request.\n\n"sha" wasn\'t supplied.'),
    );
    expect(await errorOf(write(name, 'docs/arrivals.md', 'B', { sha: tip }))).toEqual(
      refused(409, `docs/arrivals.md does not match ${tip}`),
    );
    const changed = await write(name, 'docs/arrivals.md', '# Arrivals\n\nAt noon.\n', { sha });
    expect(changed.status).toBe(200);
    const { data } = await world
      .client()
      .repos.getCommit({ ...repository, ref: changed.data.commit.sha ?? '' });
    expect(data.files).toMatchObject([
      { filename: 'docs/arrivals.md', status: 'modified', additions: 2, deletions: 0 },
    ]);
    expect(data.files?.[0]?.patch).toContain('+At noon.');
    expect(await errorOf(read('docs/arrivals.md'))).toEqual(notFound);
    const gone = { path: 'docs/arrivals.md', branch: name, message: 'Away' };
    const removed = await world.client().repos.deleteFile({
      ...repository,
      ...gone,
      sha: changed.data.content?.sha ?? '',
    });
    expect(removed.data.content).toBeNull();
    expect(await errorOf(read('docs/arrivals.md', name))).toEqual(notFound);
  });

  it.each([
    ['no message', { message: undefined }, 422, 'Invalid request.\n\n"message" wasn\'t supplied.'],
    ['no base 64', { content: '***' }, 422, 'content is not valid Base64'],
    ['an unknown branch', { branch: 'none' }, 404, 'Branch none not found'],
    ['a path into git', { path: 'a/.git/b' }, 422, 'path contains a malformed path component'],
  ])('cannot be written with %s', async (_, more, status, message) => {
    const body = { message: 'A', content: encoded('a'), path: 'a.md', ...more };
    const { path, ...sent } = body;
    const asked = `/repos/northquay/berth/contents/${path}`;
    const { response, body: answer } = await world.ask('PUT', asked, sent);
    expect([response.status, answer.message]).toEqual([status, message]);
  });

  it('can be added to an empty repository, but not by other users', async () => {
    await world.client().repos.createForAuthenticatedUser({ name: 'notes' });
    const own = { owner: 'quay-triage', repo: 'notes' };
    const empty = world.client().repos.getContent({ ...own, path: '' });
    expect(await errorOf(empty)).toEqual(refused(404, 'This repository is empty.'));
    const file = { path: 'README.md', message: 'Begin', content: encoded('# Notes') };
    await world.client().repos.createOrUpdateFileContents({ ...own, ...file });
    expect((await world.client().repos.listBranches(own)).data.map(({ name }) => name)).toEqual([
      'main',
    ]);
    const foreign = { owner: 'mikkelh', repo: 'marstal-tides', ...file };
    const refusal = world.client().repos.createOrUpdateFileContents(foreign);
    expect((await errorOf(refusal)).status).toBe(403);
  });
});

describe('refs', () => {
  it('may have slashes in their names', async () => {
    await branch('feat/x');
    const { data } = await world.client().repos.getBranch({ ...repository, branch: 'feat/x' });
    expect(data.name).toBe('feat/x');
    for (const path of [
      'branches/feat/x',
      'git/ref/heads/feat/x',
      'commits/feat/x',
      'commits/feat/x/pulls',
    ]) {
      const { response } = await world.ask('GET', `/repos/northquay/berth/${path}`);
      expect([path, response.status]).toEqual([path, 200]);
    }
    await world.client().git.deleteRef({ ...repository, ref: 'heads/feat/x' });
    const none = world.client().git.getRef({ ...repository, ref: 'heads/feat/x' });
    expect(await errorOf(none)).toEqual(notFound);
  });

  it('report their protection and the commit at their tip', async () => {
    const main = await world.client().repos.getBranchProtection({ ...repository, branch: 'main' });
    expect(main.data.required_pull_request_reviews?.required_approving_review_count).toBe(1);
    const open = { ...repository, branch: await branch('feat/o') };
    expect(await errorOf(world.client().repos.getBranchProtection(open))).toEqual(
      refused(404, 'Branch not protected'),
    );
    const head = { ...repository, commit_sha: tip };
    const heads = await world.client().repos.listBranchesForHeadCommit(head);
    expect(heads.data.map(({ name }) => name)).toEqual(['feat/o', 'main']);
    expect((await world.client().repos.listCommentsForCommit(head)).data).toEqual([]);
  });

  it('include tags as well as branches', async () => {
    const ref = 'refs/tags/v2.7.1';
    await world.client().git.createRef({ ...repository, ref, sha: tip });
    const got = await world.client().git.getRef({ ...repository, ref: 'tags/v2.7.1' });
    expect(got.data).toMatchObject({ ref, object: { sha: tip } });
    const matching = await world.client().git.listMatchingRefs({ ...repository, ref: 'tags/v2.7' });
    expect(matching.data.map((one) => one.ref)).toEqual(['refs/tags/v2.7.0', ref]);
    await world.client().git.deleteRef({ ...repository, ref: 'tags/v2.7.1' });
    expect(world.rows('tags', { name: 'v2.7.1' })).toEqual([]);
  });

  it('can be moved forwards, and backwards only by force', async () => {
    const ref = `heads/${await branch('feat/y')}`;
    const before = 'e313771f';
    const older = world
      .rows('commits', repository)
      .find(({ sha }) => String(sha).startsWith(before));
    const back = { ...repository, ref, sha: String(older?.sha) };
    expect(await errorOf(world.client().git.updateRef(back))).toEqual(
      refused(422, 'Update is not a fast forward'),
    );
    const forced = await world.client().git.updateRef({ ...back, force: true });
    expect(forced.data.object.sha).toBe(back.sha);
    await world.client().git.updateRef({ ...back, sha: tip });
    expect(await errorOf(world.client().git.updateRef({ ...back, sha: 'none' }))).toEqual(
      refused(422, 'Object does not exist'),
    );
  });
});

describe('comparing', () => {
  it('lists the commits and files that one ref has and another has not', async () => {
    const compare = async (basehead: string) =>
      (await world.client().repos.compareCommitsWithBasehead({ ...repository, basehead })).data;
    const ahead = await compare('main...occupancy-nights');
    expect(ahead).toMatchObject({ status: 'ahead', ahead_by: 2, behind_by: 0, total_commits: 2 });
    expect(ahead.files?.map(({ filename, additions }) => [filename, additions])).toEqual([
      ['server/reports/occupancy.test.ts', 55],
      ['server/reports/occupancy.ts', 16],
    ]);
    expect(await compare('northquay:main...northquay:temporal-flag')).toMatchObject({
      status: 'diverged',
      ahead_by: 1,
      behind_by: 1,
      merge_base_commit: { commit: { message: 'Release 2.7' } },
    });
    expect((await compare('main...v2.7.0')).status).toBe('behind');
    expect((await compare('main...main')).status).toBe('identical');
    expect(await errorOf(compare('main...none'))).toEqual(notFound);
  });

  it('returns 250 commits on a page by default, and at most a hundred if a number is given', async () => {
    const shaOf = (index: number) => String(index).padStart(40, '0');
    const commits = Array.from({ length: 260 }, (_, index) => ({
      ...repository,
      ...{ sha: shaOf(index), parents: [index === 0 ? tip : shaOf(index - 1)] },
      ...{ message: `Commit ${index}`, author: 'mikkelh', files: [] },
      committed_at: '2025-11-17T08:00:00Z',
    }));
    await branch('many');
    const { error } = await world.call('seed', 'seed', { rows: { commits } });
    expect(error).toBeUndefined();
    const head = shaOf(259);
    await world.client().git.updateRef({ ...repository, ref: 'heads/many', sha: head });
    const compare = async (more: object) =>
      await world
        .client()
        .repos.compareCommitsWithBasehead({ ...repository, basehead: 'main...many', ...more });
    const first = await compare({});
    expect([first.data.total_commits, first.data.commits.length]).toEqual([260, 250]);
    expect(first.headers.link).toMatch(/page=2&after=.*rel="next"/);
    expect((await compare({ page: 2 })).data.commits).toHaveLength(10);
    expect((await compare({ per_page: 500 })).data.commits).toHaveLength(100);
  });

  it('returns a diff if the client asks for that media type', async () => {
    const asked = { ...repository, basehead: 'main...danish-plads' };
    const format = { mediaType: { format: 'diff' } };
    const { data } = await world.client().repos.compareCommitsWithBasehead({ ...asked, ...format });
    expect(data).toContain('+  "berth.short": "Plads",');
  });
});

describe('merging', () => {
  it('applies the merged changes to the files of the base', async () => {
    await world.client().pulls.merge({ ...pull(150), merge_method: 'squash' });
    const merged = await read('server/reports/occupancy.ts');
    expect(decoded(merged.content)).toContain('day < stay.departure || stay.isDayVisit');
  });

  it('brings the branch of a pull request up to date', async () => {
    const name = await branch('feat/z');
    await write(name, 'docs/z.md', '# Z\n');
    const asked = { ...repository, title: 'Z', head: name, base: 'main' };
    const made = await world.client().pulls.create(asked);
    const own = pull(made.data.number);
    expect(await errorOf(world.client().pulls.updateBranch(own))).toEqual(
      refused(422, 'There are no new commits on the base branch.'),
    );
    await world.client().pulls.merge(pull(150));
    const stale = world.client().pulls.updateBranch({ ...own, expected_head_sha: tip });
    expect((await errorOf(stale)).status).toBe(422);
    const { status, data } = await world.client().pulls.updateBranch(own);
    expect([status, data.message]).toEqual([202, 'Updating pull request branch.']);
    const after = (await world.client().pulls.get(own)).data;
    expect(after).toMatchObject({ commits: 2, changed_files: 1 });
    expect(after.head.sha).not.toBe(made.data.head.sha);
    const brought = await read('server/reports/occupancy.ts', name);
    expect(decoded(brought.content)).toContain('stay.isDayVisit');
  });

  it('merges one branch into another without a pull request', async () => {
    const name = await branch('feat/m');
    const asked = { ...repository, base: name, head: 'danish-plads' };
    const { status, data } = await world.client().repos.merge(asked);
    expect([status, data.parents.length]).toEqual([201, 2]);
    expect((await world.client().repos.merge(asked)).status).toBe(204);
    const none = world.client().repos.merge({ ...asked, head: 'none' });
    expect(await errorOf(none)).toEqual(refused(404, 'Head does not exist'));
  });

  it('sends a push event to webhooks', async () => {
    const name = await branch('feat/p');
    const config = { url: 'https://hooks.example/a', content_type: 'json', secret: 's' };
    await world.client().repos.createWebhook({ ...repository, config });
    await write(name, 'docs/p.md', '# P\n');
    const [, push] = await world.deliveries();
    expect(push).toMatchObject({
      operation: 'push',
      request: {
        body: {
          ref: 'refs/heads/feat/p',
          before: tip,
          commits: [{ message: 'Write docs/p.md', added: ['docs/p.md'] }],
          pusher: { name: 'quay-triage' },
        },
      },
    });
  });
});
