/** Tests how the code host pages its lists, and that the vendor's client can follow the links between the pages. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { numbers, repository, serveCodeHost } from '#test/support/templates/code-hosting.ts';

const world = await serveCodeHost();

const asked = { ...repository, state: 'all' as const };

/** Returns the targets of an answer's links, without their cursors. */
const linksOf = (header: string | undefined): Record<string, string> =>
  Object.fromEntries(
    [...(header ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(([, url = '', rel = '']) => {
      const target = new URL(url);
      target.searchParams.delete('after');
      return [rel, `${target.pathname}${target.search}`];
    }),
  );

/** Requests the first page with these headers, which `fetch` would not send, and returns its `Link` header. */
const linkSaid = async (path: string, host: string, proto: string): Promise<string> => {
  const headers = { authorization: `token ${world.token}`, host, 'x-forwarded-proto': proto };
  const sent = request(`${world.url}${path}?per_page=1`, { headers }).end();
  const [{ headers: answered }] = (await once(sent, 'response')) as [IncomingMessage];
  sent.destroy();
  return String(answered.link);
};

const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...repository,
    id: 4_000_000_000 + index,
    number: 1_000 + index,
    title: `Mooring ${index}`,
    user: 'mikkelh',
    state: 'open',
    created_at: `2025-12-${String(1 + (index % 28)).padStart(2, '0')}T08:00:00Z`,
    updated_at: '2025-12-29T08:00:00Z',
  }));

describe('pages', () => {
  it('contain links to the other pages', async () => {
    const second = await world.client().issues.listForRepo({ ...asked, per_page: 20, page: 2 });
    const page = (number: number) =>
      `/repos/northquay/berth/issues?state=all&per_page=20&page=${number}`;
    expect(linksOf(second.headers.link)).toEqual({
      prev: page(1),
      next: page(3),
      last: page(3),
      first: page(1),
    });
    const last = await world.client().issues.listForRepo({ ...asked, per_page: 20, page: 3 });
    expect(Object.keys(linksOf(last.headers.link))).toEqual(['prev', 'first']);
    const single = await world.client().issues.listForRepo(repository);
    expect(single.headers.link).toBeUndefined();
  });

  it.each([
    '/repos/northquay/berth/issues/139/comments',
    '/repos/northquay/berth/pulls/150/commits',
    '/repos/northquay/berth/milestones/3/labels',
    '/repos/northquay/berth/branches',
    '/orgs/northquay/members',
    '/users/northquay/repos',
  ])('have links that differ only in the query: %s', async (path) => {
    const { response } = await world.ask('GET', `${path}?per_page=1`);
    expect(linksOf(response.headers.get('link') ?? '').next).toBe(`${path}?per_page=1&page=2`);
  });

  it('have links with the path prefix of the request', async () => {
    const path = '/api/v3/repos/northquay/berth/branches';
    const { response } = await world.ask('GET', `${path}?per_page=1`);
    expect(linksOf(response.headers.get('link') ?? '').next).toBe(`${path}?per_page=1&page=2`);
    const limit = async (one: string) =>
      (await world.ask('GET', one)).response.headers.get('x-ratelimit-resource');
    expect(await limit('/api/v3/search/users?q=mikkel')).toBe('search');
  });

  it.each([
    ['x>; rel="next", <http://evil.example', 'https'],
    ['berth.example', 'https>; rel="next", <http'],
  ])('do not use forged proxy headers in links: %s, %s', async (called, proto) => {
    const link = await linkSaid('/repos/northquay/berth/branches', called, proto);
    expect(link).not.toContain('evil');
    expect(link).toMatch(/^(<[^<>]+>; rel="(next|last)"(, |$)){2}$/);
  });

  it('have links with the scheme that the first of several proxies reports', async () => {
    const path = '/api/v3/repos/northquay/berth/branches';
    expect(await linkSaid(path, 'berth.example', 'https, http')).toMatch(
      `<https://berth.example${path}?per_page=1&page=2&after=`,
    );
  });

  it('have links that contain the arguments of the path', async () => {
    const path = '/repos/northquay/berth/compare/northquay%3Amain...occupancy-nights';
    const { response } = await world.ask('GET', `${path}?per_page=1`);
    expect(linksOf(response.headers.get('link') ?? '').next).toBe(`${path}?per_page=1&page=2`);
  });

  it('are the same whether requested by number or by link', async () => {
    const octokit = world.octokit();
    const byLink = await octokit.paginate(octokit.rest.issues.listForRepo, {
      ...asked,
      per_page: 7,
    });
    const byNumber = [];
    for (let page = 1; page <= 9; page += 1) {
      byNumber.push(
        ...(await octokit.rest.issues.listForRepo({ ...asked, per_page: 7, page })).data,
      );
    }
    expect(numbers(byLink)).toEqual(numbers(byNumber));
    expect(new Set(numbers(byLink)).size).toBe(58);
  });

  it('ignore an invalid cursor', async () => {
    const { response, body } = await world.ask('GET', '/repos/northquay/berth/issues?after=abc');
    expect(response.status).toBe(200);
    expect(body).toHaveLength(28);
  });
});

describe('a thousand issues', () => {
  it.each([
    ['newest first', {}],
    ['oldest first', { direction: 'asc' as const }],
    ['by the time of their last change', { sort: 'updated' as const }],
  ])('are each read once, %s, while another client creates more issues', async (_name, order) => {
    const { error } = await world.call('seed', 'seed', { rows: { issues: rowsOf(1_000) } });
    expect(error).toBeUndefined();
    const there = new Set(numbers(world.rows('issues', repository) as { number: number }[]));
    const octokit = world.octokit();
    const other = world.octokit();
    const read: number[] = [];
    const pages = octokit.paginate.iterator(octokit.rest.issues.listForRepo, {
      ...asked,
      ...order,
      per_page: 100,
    });
    for await (const { data } of pages) {
      read.push(...numbers(data));
      await other.rest.issues.create({ ...repository, title: 'Inserted in between' });
    }
    expect(new Set(read).size).toBe(read.length);
    expect([...there].filter((number) => !read.includes(number))).toEqual([]);
  });

  it('are inserted concurrently and read concurrently', async () => {
    await world.call('seed', 'seed', { rows: { issues: rowsOf(1_000) } });
    const there = numbers(world.rows('issues', repository) as { number: number }[]);
    const octokit = world.octokit();
    let isReading = true;
    const inserting = (async () => {
      while (isReading) {
        await world.client().issues.create({ ...repository, title: 'Meanwhile' });
      }
    })();
    const read = await octokit.paginate(octokit.rest.issues.listForRepo, {
      ...asked,
      per_page: 100,
    });
    isReading = false;
    await inserting;
    const seen = new Set(numbers(read));
    expect(seen.size).toBe(read.length);
    expect(there.filter((number) => !seen.has(number))).toEqual([]);
  });
});

describe('the retry plugin', () => {
  it('retries a request that a gateway could not answer, but not one that the code host refused', async () => {
    let asked = 0;
    const flaky: typeof fetch = async (...request) => {
      asked += 1;
      return asked < 3 ? new Response('bad gateway', { status: 502 }) : fetch(...request);
    };
    const get = (issue_number: number) =>
      world.client().issues.get({ ...repository, issue_number, request: { fetch: flaky } });
    expect((await get(139)).data.number).toBe(139);
    expect(asked).toBe(3);
    await expect(get(9_999)).rejects.toMatchObject({ status: 404 });
    expect(asked).toBe(4);
  });
});
