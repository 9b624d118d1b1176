/** Tests media types, modification dates and conditional requests of the code host. */
import { describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { on, pull, repository, serveCodeHost } from '#test/support/templates/code-hosting.ts';

const world = await serveCodeHost();
const berth = '/repos/northquay/berth';

/** Sends a request with the given headers. */
const get = async (path: string, headers: Record<string, string>) => {
  const authorization = `token ${world.token}`;
  const response = await fetch(`${world.url}${path}`, { headers: { authorization, ...headers } });
  return { response, text: await response.text() };
};
const accept = (path: string, type: string) => get(path, { accept: type });

describe('Markdown', () => {
  const text = '# Tide\n\nLow *water*, see <b>#139</b>';
  const html =
    '<h1 dir="auto">Tide</h1>\n<p dir="auto">Low <em>water</em>, see &lt;b&gt;#139&lt;/b&gt;</p>';

  it('is rendered for the vendor’s client, from a JSON or a plain body', async () => {
    const { data, headers } = await world.client().markdown.render({ text, mode: 'gfm' });
    expect(data).toBe(html);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    const asked = { accept: 'text/html' };
    const same = await world.client().markdown.render({ text, mode: 'gfm', headers: asked });
    expect(same.data).toBe(html);
    const raw = await world.client().markdown.renderRaw({ data: text });
    expect(raw.data).toBe(html);
  });

  it('is not rendered if the request has no text', async () => {
    expect(await world.ask('POST', '/markdown', { mode: 'gfm' })).toMatchObject({
      response: { status: 422 },
      body: { errors: [{ resource: 'Markdown', field: 'text', code: 'missing_field' }] },
    });
  });
});

describe('a requested media type', () => {
  it.each([
    ['a pull request', `${berth}/pulls/150`],
    ['a commit', `${berth}/commits/occupancy-nights`],
  ])('can be diff or patch for %s', async (_, path) => {
    const diff = await accept(path, 'application/vnd.github.v3.diff');
    expect(diff.response.status).toBe(200);
    expect(diff.response.headers.get('content-type')).toBe(
      'application/vnd.github.diff; charset=utf-8',
    );
    expect(diff.text).toMatch(/^diff --git a\//);
    const patch = await accept(path, 'application/vnd.github.patch');
    expect(patch.text).toMatch(/^From [0-9a-f]{40} /);
    expect(patch.text).toContain('Subject: [PATCH]');
  });

  it('can be diff for the vendor’s client', async () => {
    const { data } = await world
      .client()
      .pulls.get({ ...pull(150), mediaType: { format: 'diff' } });
    expect(data).toMatch(/^diff --git /);
  });

  it('can be sha, for which only the sha of a commit is answered', async () => {
    const { text } = await accept(`${berth}/commits/main`, 'application/vnd.github.sha');
    expect(text).toBe('ea971acdeea7783b9d999af454bd15ec05002f51');
  });

  it.each<[string, string[], string[]]>([
    ['raw', ['body'], ['body_html', 'body_text']],
    ['text', ['body_text'], ['body', 'body_html']],
    ['html', ['body_html'], ['body', 'body_text']],
    ['full', ['body', 'body_html', 'body_text'], []],
  ])(
    'can be %s, which puts the text of issues, comments and pull requests into fields of its own',
    async (form, there, not) => {
      const type = `application/vnd.github.${form}+json`;
      for (const path of [
        'issues/40',
        'issues',
        'issues/40/comments',
        'pulls/150',
        'pulls?state=all',
      ]) {
        const { text, response } = await accept(`${berth}/${path}`, type);
        expect(response.headers.get('x-github-media-type')).toBe(
          `github.v3; param=${form}; format=json`,
        );
        const rows = [JSON.parse(text)].flat() as Row[];
        for (const field of there) expect(rows[0]).toHaveProperty(field);
        for (const field of not) expect(rows[0]).not.toHaveProperty(field);
      }
    },
  );

  it('can be html, which renders the text, but no HTML elements that the text contains', async () => {
    const body =
      '## A **bold** `x<y`\n\n- [x] done @mikkelh\n\n<script>alert(1)</script> [a](https://a.example)';
    await world.client().issues.update({ ...on(157), body });
    const html = 'application/vnd.github.full+json';
    const issue = JSON.parse((await accept(`${berth}/issues/157`, html)).text) as Row;
    expect(issue.body_html).toBe(
      [
        '<h2 dir="auto">A <strong>bold</strong> <code>x&lt;y</code></h2>',
        '<ul dir="auto">',
        '<li><input type="checkbox" disabled="" checked=""> done <a href="https://code.example/mikkelh">@mikkelh</a></li>',
        '</ul>',
        '<p dir="auto">&lt;script&gt;alert(1)&lt;/script&gt; <a href="https://a.example" rel="nofollow">a</a></p>',
      ].join('\n'),
    );
    expect(issue.body_text).toContain('A bold x<y');
  });

  it.each([
    ['brackets', '['],
    ['unclosed links', '[a](https://<'],
    ['a heading with much space', `# a${' '.repeat(65_000)}x`],
  ])('can be html, which renders %s within a handler’s time limit', async (_, part) => {
    const body = part.repeat(Math.floor(65_536 / part.length));
    await world.client().issues.update({ ...on(157), body });
    const { response } = await accept(`${berth}/issues/157`, 'application/vnd.github.html+json');
    expect(response.status).toBe(200);
  });

  it('can be html, which renders a heading without its closing number signs', async () => {
    await world.client().issues.update({ ...on(157), body: '# A ##  \n## In C#\n### ###\n#' });
    const { text } = await accept(`${berth}/issues/157`, 'application/vnd.github.html+json');
    expect((JSON.parse(text) as Row).body_html).toBe(
      [
        '<h1 dir="auto">A</h1>',
        '<h2 dir="auto">In C#</h2>',
        '<h3 dir="auto"></h3>',
        '<p dir="auto">#</p>',
      ].join('\n'),
    );
  });

  it('can be html, which renders the name of a file as text', async () => {
    const path = 'a"><script>.md';
    const commit = { message: 'Add', content: Buffer.from('# A').toString('base64') };
    await world.client().repos.createOrUpdateFileContents({ ...repository, path, ...commit });
    const file = `${berth}/contents/${encodeURIComponent(path)}`;
    const { text } = await accept(file, 'application/vnd.github.html');
    expect(text).toMatch(/^<div id="file" class="md" data-path="a&quot;&gt;&lt;script&gt;.md">/);
  });

  it.each([
    ['application/vnd.github.diff;q=0, application/json', 'json'],
    ['application/json, application/vnd.github.diff;q=0.5', 'json'],
    ['application/json;q=0.5, application/vnd.github.diff', 'diff'],
    ['application/vnd.github.diff;q=0.2, application/vnd.github.patch;q=0.9', 'patch'],
    ['application/json, application/vnd.github.diff', 'diff'],
    ['application/vnd.github.diff; q=2', 'diff'],
  ])('is negotiated: %s is answered as %s', async (type, form) => {
    const { response } = await accept(`${berth}/pulls/150`, type);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain(form);
  });

  it.each(['application/json;q=0', 'application/vnd.github+json;q=0.0, text/html'])(
    'must be one that exists: %s accepts no type and is answered 415',
    async (type) => expect((await accept(berth, type)).response.status).toBe(415),
  );

  it('can be text-match, which reports the positions of the words of a search', async () => {
    const { data } = await world.client().search.issuesAndPullRequests({
      q: 'reminder repo:northquay/berth',
      mediaType: { format: 'text-match' },
    });
    const [match] = data.items[0]?.text_matches ?? [];
    expect(match).toMatchObject({ object_type: 'Issue', object_url: data.items[0]?.url });
    const [first] = match?.matches ?? [];
    const [from = 0, to = 0] = first?.indices ?? [];
    expect(match?.fragment?.slice(from, to)).toBe(first?.text);
    expect(first?.text?.toLowerCase()).toMatch(/^reminder/);
    const accept =
      'application/vnd.github.squirrel-girl-preview, application/vnd.github.v3.text-match+json';
    const behind = await world
      .client()
      .search.issuesAndPullRequests({ q: 'reminder', headers: { accept } });
    expect(behind.data.items[0]).toHaveProperty('text_matches');
    const plain = await world.client().search.issuesAndPullRequests({ q: 'reminder' });
    expect(plain.data.items[0]).not.toHaveProperty('text_matches');
  });

  it.each([
    ['that the vendor does not have', `${berth}/issues`, 'application/xml'],
    ['that the route does not have', `${berth}/issues`, 'application/vnd.github.diff'],
    ['for bytes', berth, 'application/octet-stream'],
  ])('is refused with 415 if it is a type %s', async (_, path, type) => {
    const { response, text } = await accept(path, type);
    expect(response.status).toBe(415);
    expect(JSON.parse(text)).toEqual({
      message: `Unsupported 'Accept' header: '${type}'. Must accept 'application/json'.`,
      documentation_url: 'https://docs.code.example/v3/media',
      status: '415',
    });
  });

  it.each([
    'application/vnd.github+json',
    'text/html, */*;q=0.8',
    'application/vnd.github.nebula-preview+json',
  ])('can be %s, which is answered in JSON', async (type) => {
    const { response } = await accept(berth, type);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('application/json');
  });

  it('does not change the text in webhook deliveries', async () => {
    const config = { url: 'https://hooks.example/a', content_type: 'json', secret: 's' };
    await world.client().repos.createWebhook({ ...repository, config, events: ['issue_comment'] });
    const html = { mediaType: { format: 'html' } };
    await world.client().issues.createComment({ ...on(157), body: '**B**', ...html });
    const [, commented] = await world.deliveries();
    expect(commented).toMatchObject({ request: { body: { comment: { body: '**B**' } } } });
    expect(commented).not.toHaveProperty('request.body.comment.body_html');
  });
});

describe('dates of change', () => {
  it.each([
    ['issue', `${berth}/issues/40`],
    ['pull request', `${berth}/pulls/150`],
    ['repository', berth],
    ['user', '/users/mikkelh'],
    ['organization', '/orgs/northquay'],
    ['milestone', `${berth}/milestones/4`],
    ['commit', `${berth}/commits/main`],
  ])(
    'are sent with each %s, which is answered 304 if it has not changed since',
    async (_, path) => {
      const first = await get(path, {});
      const since = first.response.headers.get('last-modified') ?? '';
      expect(since).toMatch(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
      expect((await get(path, { 'if-modified-since': since })).response.status).toBe(304);
      const older = { 'if-modified-since': 'Sun, 06 Nov 1994 08:49:37 GMT' };
      expect((await get(path, older)).response.status).toBe(200);
      expect((await get(path, { 'if-modified-since': 'soon' })).response.status).toBe(200);
      const changed = { 'if-modified-since': since, 'if-none-match': '"another"' };
      expect((await get(path, changed)).response.status).toBe(200);
    },
  );
});
