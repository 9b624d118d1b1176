/** Tests releases of the code host and their files, through the vendor's client. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  errorOf,
  invalid,
  notFound,
  pull,
  refused,
  repository,
  serveCodeHost,
} from '#test/support/templates/code-hosting.ts';

const world = await serveCodeHost();
const draft = { ...repository, release_id: 262540318 };
const last = { ...repository, release_id: 249077205 };
const asset = { ...repository, asset_id: 296215561 };

const create = (tag_name: string, more: object = {}) =>
  world.client().repos.createRelease({ ...repository, tag_name, ...more });
const latest = async () => (await world.client().repos.getLatestRelease(repository)).data.tag_name;

describe('releases', () => {
  it('are listed, newest first; drafts only for users who may write', async () => {
    const { data } = await world.client().repos.listReleases(repository);
    expect(data.map(({ tag_name, draft: kept }) => [tag_name, kept])).toEqual([
      ['v2.8.0', true],
      ['v2.7.0', false],
      ['v2.6.0', false],
    ]);
    expect(data[1]?.assets.map(({ name }) => name)).toEqual([
      'berth-2.7.0.tar.gz',
      'berth-2.7.0.sbom.json',
    ]);
    expect(data[1]?.reactions).toMatchObject({ total_count: 1, hooray: 1 });
    expect(data[1]?.assets[0]?.browser_download_url).toContain('/releases/download/v2.7.0/');
  });

  it('are found by their tag, and the latest one by `latest`', async () => {
    expect(await latest()).toBe('v2.7.0');
    const byTag = async (tag: string) =>
      (await world.client().repos.getReleaseByTag({ ...repository, tag })).data.name;
    expect(await byTag('v2.6.0')).toBe('2.6');
    expect(await errorOf(byTag('v2.8.0'))).toEqual(notFound);
    const none = { owner: 'mikkelh', repo: 'marstal-tides' };
    expect(await errorOf(world.client().repos.getLatestRelease(none))).toEqual(notFound);
  });

  it('are created with their tag, and a prerelease is never the latest one', async () => {
    const { status, data, headers } = await create('v2.8.0-rc/1', {
      prerelease: true,
      name: 'Trial',
    });
    expect([status, headers.location]).toEqual([201, data.url]);
    expect(data).toMatchObject({ target_commitish: 'main', author: { login: 'quay-triage' } });
    expect(world.rows('tags', { name: 'v2.8.0-rc/1' })).toHaveLength(1);
    const tag = 'v2.8.0-rc/1';
    expect((await world.client().repos.getReleaseByTag({ ...repository, tag })).data.id).toBe(
      data.id,
    );
    expect(await latest()).toBe('v2.7.0');
    await create('v2.6.1', { make_latest: 'false' });
    expect(await latest()).toBe('v2.7.0');
    await create('v2.7.1');
    expect(await latest()).toBe('v2.7.1');
    await world.client().repos.updateRelease({ ...last, make_latest: 'true' });
    expect(await latest()).toBe('v2.7.0');
  });

  it('are drafts until they are published', async () => {
    expect(world.rows('tags', { name: 'v2.8.0' })).toEqual([]);
    const { data } = await world.client().repos.updateRelease({ ...draft, draft: false });
    expect(data.published_at).not.toBeNull();
    expect(world.rows('tags', { name: 'v2.8.0' })).toHaveLength(1);
    expect(await latest()).toBe('v2.8.0');
  });

  it('are changed and deleted, and their tags remain', async () => {
    const { data } = await world.client().repos.updateRelease({ ...last, name: 'Two seven' });
    expect(data).toMatchObject({ name: 'Two seven', tag_name: 'v2.7.0' });
    expect((await world.client().repos.deleteRelease(last)).status).toBe(204);
    expect(await errorOf(world.client().repos.getRelease(last))).toEqual(notFound);
    expect(world.rows('release_assets', { release_id: last.release_id })).toEqual([]);
    expect(world.rows('tags', { name: 'v2.7.0' })).toHaveLength(1);
  });

  it.each([
    ['without a tag', '', {}, { field: 'tag_name', code: 'missing_field' }],
    [
      'with a tag that already has a release',
      'v2.7.0',
      {},
      { field: 'tag_name', code: 'already_exists' },
    ],
    [
      'from a branch that does not exist',
      'v9',
      { target_commitish: 'none' },
      { field: 'target_commitish', code: 'invalid' },
    ],
  ])('cannot be created %s', async (_, tag, more, error) => {
    expect(await errorOf(create(tag, more))).toEqual(invalid({ resource: 'Release', ...error }));
    expect(world.rows('releases', repository)).toHaveLength(3);
  });

  it('can be written only by users with write access', async () => {
    const foreign = { owner: 'mikkelh', repo: 'marstal-tides', tag_name: 'v1' };
    expect(await errorOf(world.client().repos.createRelease(foreign))).toEqual(
      refused(403, 'Must have admin rights to Repository.'),
    );
  });

  it('can have generated notes that list the pull requests merged since the previous release', async () => {
    const notes = async () =>
      (await world.client().repos.generateReleaseNotes({ ...repository, tag_name: 'v2.8.0' })).data;
    const { body, name } = await notes();
    expect(name).toBe('v2.8.0');
    expect(body).toMatch(/^## What's Changed\n\* .* by @sam-okafor in https:\/\/.*\/pull\/148\n/);
    expect(body).toMatch(/\*\*Full Changelog\*\*: .*\/compare\/v2\.7\.0\.\.\.v2\.8\.0$/);
    await world.client().pulls.merge({ ...pull(150), merge_method: 'squash' });
    expect((await notes()).body).toContain('/pull/150');
    const made = await create('v2.9.0', { generate_release_notes: true, body: 'Hello.' });
    expect(made.data.body).toMatch(/^Hello\.\n\n## What's Changed/);
  });

  it('are reported to webhooks', async () => {
    const config = { url: 'https://hooks.example/a', content_type: 'json', secret: 's' };
    await world.client().repos.createWebhook({ ...repository, config, events: ['release'] });
    await create('v2.7.1');
    const sent = (await world.deliveries()).slice(1);
    expect(
      sent.map(({ request }) => (request as { body: { action: string } }).body.action),
    ).toEqual(['created', 'published', 'released']);
  });
});

/** Bytes that are not valid text in UTF-8. */
const archive = Buffer.from([0x1f, 0x8b, 8, 0, 0xff, 0xfe, 0, 0xc3, 0x28, 0x0d, 0x0a]);
const digestOf = (bytes: Uint8Array) =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

describe('files of releases', () => {
  it('can be uploaded to the upload URL of their release, whatever their bytes', async () => {
    const { upload_url: url } = (await world.client().repos.getRelease(draft)).data;
    expect(url).toBe(`${world.url}/repos/northquay/berth/releases/262540318/assets{?name,label}`);
    const headers = { 'content-type': 'application/gzip' };
    const send = { method: 'POST' as const, url, headers, data: archive };
    const { status, data } = await world
      .octokit()
      .request({ ...send, name: 'my file.tgz', label: 'L' });
    expect(status).toBe(201);
    expect(data).toMatchObject({
      ...{ name: 'my.file.tgz', label: 'L', content_type: 'application/gzip', state: 'uploaded' },
      ...{ size: archive.length, digest: digestOf(archive), download_count: 0 },
    });
    const { assets } = (await world.client().repos.getRelease(draft)).data;
    expect(assets).toContainEqual(data);
    const refusedWith = (more: object) => errorOf(world.octokit().request({ ...send, ...more }));
    const about = (field: string, code: string) =>
      invalid(expect.objectContaining({ resource: 'ReleaseAsset', field, code }));
    expect(await refusedWith({ name: 'my.file.tgz' })).toEqual(about('name', 'already_exists'));
    expect(await refusedWith({})).toEqual(about('name', 'missing_field'));
    expect(await refusedWith({ name: 'a', data: Buffer.alloc(0) })).toEqual(
      about('size', 'custom'),
    );
  });

  it('are listed, changed and deleted', async () => {
    const { data } = await world.client().repos.updateReleaseAsset({ ...asset, label: 'SBOM' });
    expect(data).toMatchObject({ label: 'SBOM', content_type: 'application/json', size: 88120 });
    const taken = world.client().repos.updateReleaseAsset({ ...asset, name: 'berth-2.7.0.tar.gz' });
    expect((await errorOf(taken)).status).toBe(422);
    await world.client().repos.deleteReleaseAsset(asset);
    const listed = await world.client().repos.listReleaseAssets(last);
    expect(listed.data.map(({ name }) => name)).toEqual(['berth-2.7.0.tar.gz']);
  });

  it('are downloaded by a redirect to the URL of their bytes', async () => {
    const path = `${world.url}/repos/northquay/berth/releases/assets/${asset.asset_id}`;
    const response = await fetch(path, {
      headers: { authorization: `token ${world.token}`, accept: 'application/octet-stream' },
      redirect: 'manual',
    });
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toContain('/releases/download/v2.7.0/');
  });
});
