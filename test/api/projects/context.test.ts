/** Tests context repositories and prompts: pushed, labelled, read, composed and deleted. */
import { Langfuse } from 'langfuse';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { createAsker } from '../../support/control/client.ts';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';

let control: OwnControl;
let as: string;
let asker: ReturnType<typeof createAsker>;

type Answered = {
  status: number;
  body: Record<string, unknown> & { data: object[]; meta: object };
};

const ask = async (method: string, path: string, body?: object): Promise<Answered> => {
  const answer = await asker(method, path, { as, ...(body === undefined ? {} : { body }) });
  return { status: answer.status, body: answer.body as Answered['body'] };
};

beforeAll(async () => {
  control = await startOwnControl();
  as = basicAuthorization(control.publicKey, control.secretKey);
  asker = createAsker(control);
});

afterAll(() => control.stop());

describe('a context repository', () => {
  it('keeps each pushed version, and returns the latest unless the request names another', async () => {
    const path = '/context/memory/user%2Fada';
    expect(await ask('POST', path, { content: { likes: ['tea'] } })).toMatchObject({
      status: 201,
      body: { kind: 'memory', identifier: 'user/ada', version: 1, labels: ['latest'], config: {} },
    });
    await ask('POST', path, { content: null }).then(({ status }) => expect(status).toBe(400));
    const second = {
      content: ['x', 1],
      config: { a: 1 },
      labels: ['good'],
      tags: ['t'],
      message: 'm',
    };
    expect((await ask('POST', path, second)).status).toBe(201);
    expect((await ask('GET', path)).body).toMatchObject({
      ...{ version: 2, latestVersion: 2, content: ['x', 1], config: { a: 1 }, message: 'm' },
      ...{ labels: ['good', 'latest'], tags: ['t'], createdBy: control.publicKey },
    });
    const first = await ask('GET', `${path}?version=1`);
    expect(first.body).toMatchObject({ content: { likes: ['tea'] }, labels: [], tags: ['t'] });
    expect((await ask('GET', `${path}?label=good`)).body).toMatchObject({ version: 2 });
    expect((await ask('GET', `${path}?version=9`)).status).toBe(404);
    expect((await ask('GET', `${path}?version=1&label=good`)).status).toBe(400);
    expect((await ask('GET', `${path}?version=x`)).status).toBe(400);
  });

  it('is found by a name with unescaped slashes in the address', async () => {
    await ask('POST', '/context/skills/of/folder/one', { content: 'how' });
    expect((await ask('GET', '/context/skills/of/folder/one')).body).toMatchObject({
      identifier: 'of/folder/one',
    });
    const prompt = { name: 'of/folder/a prompt', prompt: 'Do it.' };
    expect((await ask('POST', '/v2/prompts', prompt)).status).toBe(201);
    const path = '/v2/prompts/of/folder/a%20prompt';
    expect((await ask('GET', `${path}?version=1`)).body).toMatchObject({ name: prompt.name });
    const labels = { newLabels: ['staging'] };
    expect((await ask('PATCH', `${path}/versions/1`, labels)).body).toMatchObject({ version: 1 });
    expect((await ask('GET', `${path}?label=staging`)).status).toBe(200);
    expect((await ask('DELETE', `${path}?label=staging`)).status).toBe(204);
    expect((await ask('GET', `${path}?version=1`)).body).toMatchObject({
      message: "Prompt not found: 'of/folder/a prompt'",
    });
  });

  it('reports whether it exists', async () => {
    await ask('POST', '/context/skills/search', { content: 'how' });
    const exists = async (path: string) => (await ask('GET', path)).body;
    expect(await exists('/context/skills/search?exists=true')).toEqual({
      exists: true,
      version: 1,
    });
    const none = { exists: false, version: null };
    expect(await exists('/context/skills/search?exists=true&version=2')).toEqual(none);
    expect(await exists('/context/skills/other?exists=true')).toEqual(none);
    expect(await exists('/context/agents/search?exists=true')).toEqual(none);
    expect((await ask('GET', '/context/tools/search')).status).toBe(404);
  });

  it('refuses a push onto a version that is not the latest, and numbers concurrent pushes uniquely', async () => {
    const path = '/context/agents/triage';
    const stale = { content: 1, baseVersion: 3 };
    expect((await ask('POST', path, { content: 1, baseVersion: 0 })).status).toBe(201);
    expect(await ask('POST', path, stale)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('the latest version of "triage" is 1, not 3') },
    });
    const pushed = await Promise.all(
      Array.from({ length: 8 }, (_, index) => ask('POST', path, { content: index })),
    );
    const numbers = pushed.map(({ body }) => body.version as number).sort((a, b) => a - b);
    expect(numbers).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('is listed with its labels, and is deleted with all its versions', async () => {
    await ask('POST', '/context/skills/gone', { content: 1, labels: ['a'] });
    await ask('POST', '/context/skills/gone', { content: 2, tags: ['rare'] });
    const { body } = await ask('GET', '/context/skills?tag=rare');
    expect(body).toMatchObject({
      data: [{ identifier: 'gone', latestVersion: 2, versions: 2, labels: { a: 1, latest: 2 } }],
      meta: { page: 1, totalItems: 1, totalPages: 1 },
    });
    expect((await ask('GET', '/context/skills?label=a')).body.data).toHaveLength(1);
    expect(await ask('DELETE', '/context/skills/gone')).toMatchObject({ body: { deleted: 2 } });
    expect((await ask('DELETE', '/context/skills/gone')).status).toBe(404);
    expect((await ask('GET', '/context/skills?tag=rare')).body.data).toEqual([]);
  });

  it.each([
    ['a name with a control character', '/context/skills/a%01b', { content: 1 }],
    ['a name that ends in a slash', '/context/skills/a%2F', { content: 1 }],
    ['no content', '/context/skills/a', {}],
    ['a label of the wrong form', '/context/skills/a', { content: 1, labels: ['A b'] }],
    ['a prompt that is none', '/context/prompts/a', { content: { role: 'user' } }],
  ])('is refused with %s, and nothing is created', async (_, path, body) => {
    expect((await ask('POST', path, body)).status).toBe(400);
    expect((await ask('GET', '/context/skills/a?exists=true')).body).toMatchObject({
      exists: false,
    });
  });
});

describe('a prompt', () => {
  it('is the same through the routes for prompts and the routes for context', async () => {
    await ask('POST', '/v2/prompts', {
      name: 'both ways',
      prompt: 'Hello',
      labels: ['production'],
    });
    expect((await ask('GET', '/context/prompts/both%20ways')).body).toMatchObject({
      content: 'Hello',
      labels: ['production', 'latest'],
    });
    await ask('POST', '/context/prompts/both%20ways', { content: 'Hi' });
    expect((await ask('GET', '/v2/prompts/both%20ways?label=latest')).body).toMatchObject({
      ...{ name: 'both ways', version: 2, type: 'text', prompt: 'Hi', isActive: false },
    });
    expect((await ask('GET', '/v2/prompts/both%20ways')).body).toMatchObject({
      ...{
        version: 1,
        prompt: 'Hello',
        isActive: true,
        resolutionGraph: null,
        commitMessage: null,
      },
    });
  });

  it('keeps its type, and refuses a version of another type', async () => {
    await ask('POST', '/v2/prompts', { name: 'typed', prompt: 'Hello' });
    const chat = { name: 'typed', type: 'chat', prompt: [{ role: 'user', content: 'x' }] };
    expect(await ask('POST', '/v2/prompts', chat)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('"typed" is a text prompt, not chat') },
    });
  });

  it('can be given labels, which move from the versions that had them, except the label latest', async () => {
    for (const prompt of ['one', 'two']) {
      await ask('POST', '/v2/prompts', { name: 'moved', prompt, labels: ['production', 'eu'] });
    }
    const at = (version: number) => `/v2/prompts/moved/versions/${version}`;
    expect((await ask('PATCH', at(1), { newLabels: ['latest'] })).status).toBe(400);
    expect((await ask('PATCH', at(7), { newLabels: ['eu'] })).status).toBe(404);
    expect(await ask('PATCH', at(1), { newLabels: ['production'] })).toMatchObject({
      body: { version: 1, labels: ['production'] },
    });
    expect((await ask('GET', '/v2/prompts/moved?version=2')).body).toMatchObject({
      labels: ['eu', 'latest'],
    });
    expect(await ask('PATCH', at(1), { newLabels: ['john'] })).toMatchObject({
      body: { version: 1, labels: ['production', 'john'], isActive: true },
    });
    expect(await ask('PATCH', at(1), { newLabels: [] })).toMatchObject({
      body: { labels: ['production', 'john'] },
    });
  });

  it('keeps its labels in the order in which they were added', async () => {
    const labels = ['zeta', 'alpha', 'mid'];
    const made = await ask('POST', '/v2/prompts', { name: 'ordered', prompt: 'x', labels });
    expect(made.body.labels).toEqual([...labels, 'latest']);
    const path = '/v2/prompts/ordered/versions/1';
    const patched = await ask('PATCH', path, { newLabels: ['beta', 'zeta', 'aaa'] });
    expect(patched.body.labels).toEqual([...labels, 'latest', 'beta', 'aaa']);
  });

  it('is deleted by version, by label, or as a whole, and latest moves to the newest remaining version', async () => {
    for (const prompt of ['1', '2', '3', '4']) {
      await ask('POST', '/v2/prompts', { name: 'deleted', prompt, labels: [`v${prompt}`] });
    }
    expect((await ask('DELETE', '/v2/prompts/deleted?version=4')).status).toBe(204);
    expect((await ask('GET', '/v2/prompts/deleted?label=latest')).body).toMatchObject({
      version: 3,
    });
    expect((await ask('DELETE', '/v2/prompts/deleted?label=v1')).status).toBe(204);
    expect((await ask('DELETE', '/v2/prompts/deleted?label=v1')).status).toBe(404);
    // Numbers of deleted versions are not reused.
    await ask('POST', '/v2/prompts', { name: 'deleted', prompt: '5' });
    expect((await ask('GET', '/v2/prompts?name=deleted')).body.data).toMatchObject([
      { versions: [2, 3, 5], labels: ['latest', 'v2', 'v3'] },
    ]);
    expect((await ask('DELETE', '/v2/prompts/deleted')).status).toBe(204);
    expect((await ask('GET', '/v2/prompts/deleted?label=latest')).status).toBe(404);
  });

  it('includes other prompts, which are resolved unless resolve is false', async () => {
    const part = '@@@langfusePrompt:name=tone|label=production@@@';
    await ask('POST', '/v2/prompts', {
      name: 'tone',
      prompt: 'Be $& kind.',
      labels: ['production'],
    });
    await ask('POST', '/v2/prompts', {
      name: 'whole',
      prompt: `Help. ${part}`,
      labels: ['production'],
    });
    expect((await ask('GET', '/v2/prompts/whole')).body).toMatchObject({
      prompt: 'Help. Be $& kind.',
    });
    expect((await ask('GET', '/v2/prompts/whole?resolve=false')).body).toMatchObject({
      prompt: `Help. ${part}`,
    });
    const chat = [
      { role: 'system', content: part },
      { type: 'placeholder', name: 'history' },
    ];
    const made = { name: 'talk', type: 'chat', prompt: chat, labels: ['production'] };
    await ask('POST', '/v2/prompts', made);
    expect((await ask('GET', '/v2/prompts/talk')).body.prompt).toEqual([
      { type: 'chatmessage', role: 'system', content: 'Be $& kind.' },
      { type: 'placeholder', name: 'history' },
    ]);
  });

  const partOf = (name: string, at = 'label=latest') => `@@@langfusePrompt:name=${name}|${at}@@@`;
  const put = (name: string, prompt: unknown) =>
    ask('POST', '/v2/prompts', {
      name,
      prompt,
      type: typeof prompt === 'string' ? 'text' : 'chat',
    });

  it('is refused if it includes a prompt that does not exist', async () => {
    await put('a chat', [{ role: 'user', content: 'x' }]);
    await put('there', 'x');
    const reasons = [
      [partOf('nowhere', 'version=1'), "Prompt not found: 'nowhere'"],
      [partOf('there', 'version=9'), "'there' with version 9"],
      [partOf('there', 'label=none'), "'there' with label 'none'"],
      [partOf('a chat'), '"a chat" is a chat prompt, which cannot be part of a text'],
      [partOf('lacking'), "Prompt not found: 'lacking'"],
    ];
    for (const [prompt, message] of reasons) {
      expect(await put('lacking', prompt)).toMatchObject({
        status: 400,
        body: {
          message: expect.stringContaining(message ?? ''),
          error: [{ path: ['prompt'], message: expect.stringContaining(message ?? '') }],
        },
      });
    }
    expect((await ask('GET', '/v2/prompts/lacking?label=latest')).status).toBe(404);
    const context = { content: partOf('nowhere') };
    expect((await ask('POST', '/context/prompts/lacking', context)).status).toBe(400);
  });

  it('is refused if its includes form a cycle', async () => {
    await put('round', 'x');
    await put('half', partOf('round'));
    expect(await put('round', partOf('round', 'version=1'))).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('in a circle, round → round') },
    });
    expect(await put('round', partOf('half'))).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('in a circle, round → half → round') },
    });
  });

  it('is refused if its includes are nested deeper than five levels', async () => {
    await put('deep 0', 'x');
    for (let depth = 1; depth <= 5; depth += 1) {
      expect((await put(`deep ${depth}`, partOf(`deep ${depth - 1}`))).status).toBe(201);
    }
    expect((await ask('GET', '/v2/prompts/deep%205?label=latest')).body.prompt).toBe('x');
    expect(await put('deep 6', partOf('deep 5'))).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('nested more than 5 levels deep') },
    });
  });

  it('is refused if a chat uses one name for both a variable and a placeholder', async () => {
    const placeholder = { type: 'placeholder', name: 'history' };
    const chat = (content: string) => [{ role: 'user', content }, placeholder];
    await put('with a variable', 'After {{ history }}');
    for (const content of ['After {{history}}', partOf('with a variable')]) {
      expect(await put('twice', chat(content))).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('"history" cannot name both') },
      });
    }
    expect((await put('twice', chat('After {{story}}'))).status).toBe(201);
  });

  it('keeps malformed references to other prompts as text', async () => {
    const odd = [
      '@@@langfusePrompt:name=there@@@',
      '@@@langfusePrompt:label=production|name=there@@@',
      '@@@langfusePrompt:name=|label=latest@@@',
      ...['version=', 'version=one', 'version=0', 'version=1.5', 'version=99999999999'].map((at) =>
        partOf('there', at),
      ),
      partOf('there', 'label='),
      '@@@langfusePrompt:@@@',
    ].join(' ');
    expect((await put('odd', odd)).status).toBe(201);
    expect((await ask('GET', '/v2/prompts/odd?label=latest')).body.prompt).toBe(odd);
  });

  it('with a deleted include is not found, with the name of the include, but can be read unresolved', async () => {
    await put('going', 'x');
    await put('left', partOf('going'));
    await ask('DELETE', '/v2/prompts/going');
    expect(await ask('GET', '/v2/prompts/left?label=latest')).toMatchObject({
      status: 404,
      body: { message: expect.stringContaining('going') },
    });
    expect((await ask('GET', '/v2/prompts/left?label=latest&resolve=false')).status).toBe(200);
  });

  it('is listed ten at a time, by page and by cursor', async () => {
    for (let number = 1; number <= 12; number += 1) {
      await ask('POST', '/v2/prompts', { name: `listed ${number}`, prompt: 'x', tags: ['listed'] });
    }
    const first = (await ask('GET', '/v2/prompts?tag=listed')).body;
    expect(first.data).toHaveLength(10);
    expect(first.meta).toMatchObject({ limit: 10, totalItems: 12, totalPages: 2 });
    expect(first.pagination).toEqual(first.meta);
    const { nextCursor } = first.meta as { nextCursor: string };
    const second = (await ask('GET', `/v2/prompts?tag=listed&cursor=${nextCursor}`)).body;
    expect(second.data).toMatchObject([{ name: 'listed 2' }, { name: 'listed 1' }]);
  });

  it.each([
    ['of no text', { prompt: 7 }],
    ['with messages that are none', { type: 'chat', prompt: [{ role: 'user' }] }],
    ['with a bar in its name', { name: 'a|b', prompt: 'x' }],
    ['called new', { name: 'new', prompt: 'x' }],
  ])('%s is refused', async (_, body) => {
    expect((await ask('POST', '/v2/prompts', { name: 'refused', ...body })).status).toBe(400);
    expect((await ask('GET', '/v2/prompts/refused?label=latest')).status).toBe(404);
  });

  it('is created, fetched, compiled and cached by the Langfuse SDK', async () => {
    const langfuse = new Langfuse({
      baseUrl: control.running.addresses.public[0] ?? '',
      publicKey: control.publicKey,
      secretKey: control.secretKey,
    });
    await langfuse.createPrompt({
      name: 'folder/greet me',
      prompt: 'Hello {{name}}',
      config: { model: 'model-1' },
      labels: ['production'],
      tags: ['greeting'],
    });
    const fetched = await langfuse.getPrompt('folder/greet me');
    expect(fetched.compile({ name: 'Ada' })).toBe('Hello Ada');
    expect(fetched.config).toEqual({ model: 'model-1' });
    await langfuse.createPrompt({ name: 'folder/greet me', prompt: 'Hi', labels: ['production'] });
    expect((await langfuse.getPrompt('folder/greet me')).version).toBe(1); // From the cache of the SDK.
    const fresh = await langfuse.getPrompt('folder/greet me', undefined, { cacheTtlSeconds: 0 });
    expect(fresh.version).toBe(2);
    await expect(langfuse.getPrompt('folder/none')).rejects.toThrow();
    await langfuse.shutdownAsync();
  });
});
