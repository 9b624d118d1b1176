/** Tests the code host's search, through the vendor's client. */
import { describe, expect, it } from 'vitest';
import {
  errorOf,
  invalid,
  numbers,
  repository,
  serveCodeHost,
} from '#test/support/templates/code-hosting.ts';

const world = await serveCodeHost();

const issues = async (q: string, more: object = {}): Promise<number[]> => {
  const { data } = await world.client().search.issuesAndPullRequests({ q, per_page: 100, ...more });
  expect(data.total_count).toBe(data.items.length);
  return numbers(data.items);
};

const berth = 'repo:northquay/berth';

describe('searching issues', () => {
  it('finds words in titles, texts and comments, and ranks titles first', async () => {
    const found = await issues(`reminder ${berth}`);
    expect(found).toContain(139);
    expect(found).toContain(157);
    const titles = await issues(`reminder in:title ${berth} is:open is:issue`);
    expect(titles.sort()).toEqual([131, 139, 149, 157, 158]);
    expect(await issues(`"clocks went back" ${berth}`)).toContain(139);
    expect(await issues(`unaccent in:comments ${berth} is:issue`)).toEqual([121]);
    expect(await issues(`xyzzy ${berth}`)).toEqual([]);
  });

  it.each([
    ['is:issue is:open label:"area: emails"', [157, 149, 139, 131, 70]],
    ['is:issue is:open label:bug -label:"area: emails" no:assignee', [154]],
    ['is:issue is:open label:p1,security', [55]],
    ['is:pr is:open', [156, 155, 153, 150, 142]],
    ['is:pr is:open draft:true', [142]],
    ['is:pr is:merged', [148, 126, 123, 111]],
    ['is:pr is:unmerged is:closed', [137]],
    ['is:pr is:open review:approved', [156, 150]],
    ['is:pr head:danish', [155]],
    ['is:open author:mikkelh created:>=2025-10-01', [158, 154, 131]],
    ['is:open assignee:sam-okafor', [156, 147]],
    ['is:closed reason:"not planned"', [41, 24]],
    ['milestone:2.9 is:issue comments:>2', [128, 84]],
    ['created:2025-11-10..2025-11-12 is:issue', [154, 152]],
    ['closed:<2025-02-12', [15, 12]],
    ['is:issue is:open label:security language:typescript archived:false', [55]],
    ['is:issue is:open label:security language:python', []],
    ['is:issue is:open label:security archived:true', []],
    ['involves:sam-okafor is:open is:issue', expect.arrayContaining([147])],
    ['no:label is:open', []],
    ['IS:PR Is:Open draft:true', [142]],
    ['is:pr is:open draft:true foo:bar -colour:"dark blue"', [142]],
    ['"foo:bar"', []],
    ['https://example.com', []],
    ['is:pr is:open review-requested:nemo', []],
    ['is:issue is:open label:security no:project reactions:0', [55]],
    ['is:pr is:open state:open type:pr draft:true -reviewed-by:nemo', [142]],
    ['a::b', []],
    ['NOT reminder label:"area: emails" is:open', [70]],
    ['is:pr is:open AND (draft:true OR review:approved)', [156, 150, 142]],
    ['(is:pr is:open draft:true OR is:pr is:open review:approved)', [156, 150, 142]],
    ['is:pr is:open -(draft:true OR review:approved)', [155, 153]],
    ['is:pr is:open NOT (draft:true OR review:approved)', [155, 153]],
    ['is:open is:issue (label:security OR (label:bug AND no:assignee))', [154, 131, 55]],
    ['is:open is:issue label:"area: emails" (xyzzy OR reminder)', [157, 149, 139, 131]],
    ['is:pr is:open (draft:true', [142]],
    ['is:pr is:open draft:true) ()', [142]],
    ['is:pr is:open (draft:true OR foo:bar)', [142]],
    ['"AND" is:pr is:open draft:true', []],
  ])('understands the query %s', async (q, expected) => {
    expect(await issues(`${q} ${berth}`, { sort: 'created' })).toEqual(expected);
  });

  it('sorts by the query’s qualifier, unless a parameter names another order', async () => {
    const q = `is:issue is:open label:"area: emails" ${berth}`;
    expect(await issues(`${q} sort:created-asc`)).toEqual([70, 131, 139, 149, 157]);
    expect(await issues(`sort:created ${q}`)).toEqual([157, 149, 139, 131, 70]);
    const other = await issues(`${q} sort:created-asc`, { sort: 'created', order: 'desc' });
    expect(other).toEqual([157, 149, 139, 131, 70]);
  });

  it('searches the requested parts of issues, and all parts by default', async () => {
    const both = await issues(`is:open certificate ${berth} repo:northquay/handbook`);
    expect(both).toEqual([22]);
    const all = await issues('is:open is:issue user:mikkelh');
    expect(all.sort()).toEqual([1, 2]);
    const { data } = await world.client().search.issuesAndPullRequests({ q: 'is:issue' });
    expect(data.total_count).toBeGreaterThan(80);
  });

  it('sorts and pages its results', async () => {
    const q = `is:issue ${berth}`;
    const octokit = world.octokit();
    const all = await octokit.paginate(octokit.rest.search.issuesAndPullRequests, {
      q,
      per_page: 7,
      sort: 'updated',
    });
    expect(all).toHaveLength(48);
    const times = all.map(({ updated_at }) => updated_at);
    expect(times).toEqual([...times].sort().reverse());
    const oldest = await world
      .client()
      .search.issuesAndPullRequests({ q, sort: 'created', order: 'asc' });
    expect(oldest.data.items[0]?.number).toBe(12);
  });

  it('refuses an empty query, unknown parts of issues, and pages beyond the limit', async () => {
    const search = world.client().search;
    expect(await errorOf(search.issuesAndPullRequests({ q: ' ' }))).toEqual(
      invalid({ resource: 'Search', field: 'q', code: 'missing' }),
    );
    expect(await errorOf(search.issuesAndPullRequests({ q: 'repo:northquay/none' }))).toMatchObject(
      {
        status: 422,
        data: { errors: [{ resource: 'Search', field: 'q', code: 'invalid' }] },
      },
    );
    for (const q of ['a OR b OR c OR d OR e OR f OR g', '((((((a))))))']) {
      expect(await errorOf(search.issuesAndPullRequests({ q }))).toMatchObject({
        status: 422,
        data: { errors: [{ resource: 'Search', field: 'q', code: 'invalid' }] },
      });
    }
    const deep = search.issuesAndPullRequests({ q: 'is:open', per_page: 100, page: 11 });
    expect(await errorOf(deep)).toMatchObject({
      status: 422,
      data: { message: 'Only the first 1000 search results are available' },
    });
  });
});

describe('searching repositories and users', () => {
  it('finds repositories by words and qualifiers', async () => {
    const repositories = async (q: string) => {
      const { data } = await world.client().search.repos({ q });
      return data.items.map(({ full_name }) => full_name);
    };
    expect(await repositories('tides')).toEqual(['mikkelh/marstal-tides', 'northquay/tide-feed']);
    expect(await repositories('org:northquay language:typescript')).toEqual(['northquay/berth']);
    expect(await repositories('topic:tides stars:>10')).toEqual(['northquay/tide-feed']);
    expect(await repositories('is:private')).toEqual(['northquay/handbook']);
    expect(await repositories('org:northquay stars:>10 fork:true archived:false foo:bar')).toEqual([
      'northquay/tide-feed',
      'northquay/berth',
    ]);
    expect(await repositories('org:northquay fork:only')).toEqual([]);
    expect(await repositories('org:northquay is:template')).toEqual([]);
    expect(await repositories('repo:NorthQuay/Berth updated:>2020-01-01 topics:>=0')).toEqual([
      'northquay/berth',
    ]);
  });

  it('finds users by words and qualifiers', async () => {
    const users = async (q: string) => {
      const { data } = await world.client().search.users({ q });
      return data.items.map(({ login }) => login);
    };
    expect(await users('mikkel')).toEqual(['mikkelh']);
    expect(await users('type:org')).toEqual(['northquay']);
    expect((await users('location:Flensburg type:user')).sort()).toEqual([
      'inesmarchetti',
      'jonas-eide',
    ]);
  });

  it('finds rows that were just written', async () => {
    await world.client().issues.create({ ...repository, title: 'Pontoon lights flicker' });
    expect(await issues('pontoon flicker')).toEqual([159]);
  });
});
