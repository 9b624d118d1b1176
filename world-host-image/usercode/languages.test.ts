/** Tests the behaviour that authors may rely on in both languages alike, on real workers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, createMemoryStore, startBench } from '#test/support/host/user-code.ts';
import {
  graders,
  handlers,
  labels,
  python,
  typescript,
} from '#test/support/worlds/both-languages.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await startBench({ messageBytes: 1024 * 1024 });
  await bench.load({
    'tools.py': python,
    'tools.ts': typescript,
    'labels.py': labels.python,
    'labels.ts': labels.typescript,
    'api/handlers.py': handlers.python,
    'api/handlers.ts': handlers.typescript,
    'checks/verify.py': graders.python,
    'checks/verify.ts': graders.typescript,
  });
});
afterAll(() => bench.close());

const extension = { python: 'py', typescript: 'ts' } as const;
const lineOf = (source: string, text: string): number =>
  source.slice(0, source.indexOf(text)).split('\n').length;

describe.each(['python', 'typescript'] as const)('user code in %s', (language) => {
  const source = language === 'python' ? python : typescript;
  const tools = `tools.${extension[language]}`;
  const api = { as: 'handler', file: `api/handlers.${extension[language]}` } as const;
  const grader = {
    as: 'verify',
    file: `checks/verify.${extension[language]}`,
    input: null,
  } as const;
  const request = {
    method: 'POST',
    path: '/things/7',
    route: '/things/{number}',
    args: { number: '7', page: '2' },
    body: { name: 'new' },
    headers: { accept: '*/*' },
    mediaType: 'application/json',
    contentType: 'application/json',
  };

  it('receives and returns values unchanged', async () => {
    const input = { text: 'ä\n\u2028🚀', none: null, list: [1, 2.5, true, { deep: [] }] };
    expect(await bench.value(language, 'echo', { input })).toEqual(input);
    expect(await bench.value(language, 'unicode', { input: { text: 'é' } })).toBe('é\u2028🚀');
  });

  it('reads and writes the store', async () => {
    const { access, things } = createMemoryStore();
    expect(await bench.value(language, 'store', { access })).toEqual({
      gone: null,
      changed: { id: 2, name: 'zwei', owner: { login: 'bob' } },
      bobs: [3, 2],
      pointed: [3, 2],
      page: [3],
      counts: [2, 2],
      next: 4,
      nextTwo: 3,
      uuid: access.uuid(),
      now: access.now(),
    });
    expect([...things.keys()]).toEqual(['2', '3']);
    expect(await bench.value(language, 'later', { access })).toBe('three');
  });

  it('can catch a refusal of the store', async () => {
    expect(await bench.value(language, 'catches')).toEqual([
      'things',
      'shape',
      'name',
      '/name',
      'must be a string',
    ]);
  });

  it('fails with the line of a refusal that it does not catch', async () => {
    const ninth = language === 'python' ? '"id": 9' : 'id: 9';
    expect(await bench.run(language, 'uncaught')).toMatchObject({
      ok: false,
      error: {
        code: 'refused',
        message: 'things/name: must be a string',
        details: {
          entity: 'things',
          kind: 'shape',
          field: 'name',
          trace: [{ file: tools, function: 'uncaught', line: lineOf(source, ninth) }],
        },
      },
    });
  });

  it('is refused a key that is not an object of key fields', async () => {
    expect(await bench.run(language, 'bad_key')).toMatchObject({
      error: { code: 'refused', details: { kind: 'shape', entity: 'things' } },
    });
  });

  it('fails with the author’s code and message', async () => {
    expect(await bench.run(language, 'fails')).toEqual({
      ok: false,
      error: { code: 'locked', message: 'it is locked', details: { number: 7 } },
    });
    expect(await bench.run(language, 'just_fails')).toEqual({
      ok: false,
      error: { code: 'failed', message: 'no' },
    });
  });

  it('fails with the line that threw the error', async () => {
    const result = await bench.run(language, 'raises');
    const raise = language === 'python' ? 'raise ValueError' : 'throw new RangeError';
    expect(result).toMatchObject({ ok: false, error: { code: 'raised' } });
    const { message, details } = (result as Extract<typeof result, { ok: false }>).error;
    expect(message).toMatch(/^(Value|Range)Error: broken \(tools\.(py|ts):\d+ in /);
    const { trace } = details as { trace: { file: string; line: number; source: string }[] };
    expect(trace.map(({ file }) => file)).toEqual([tools, tools]);
    expect(trace.at(-1)).toMatchObject({ line: lineOf(source, raise) });
    expect(trace.at(-1)?.source).toContain(raise);
  });

  it('fails with the line in another file, and in a handler', async () => {
    const end = extension[language];
    const line = { python: 4, typescript: 5 }[language];
    expect(await bench.run(language, 'raises_elsewhere')).toMatchObject({
      error: {
        message: expect.stringContaining(`(labels.${end}:${line} in paint)`),
        details: {
          trace: [
            { file: tools, function: 'raises_elsewhere' },
            { file: `labels.${end}`, line },
          ],
        },
      },
    });
    const bodiless = { ...request, body: null };
    const text = language === 'python' ? 'ctx.body["name"]' : '{ name }';
    for (const as of ['handler', 'before'] as const) {
      expect(await bench.run(language, 'created', { ...api, as, input: bodiless })).toMatchObject({
        error: {
          code: 'raised',
          details: { trace: [{ file: api.file, line: lineOf(handlers[language], text) }] },
        },
      });
    }
  });

  it('fails for an unknown function with the names of the functions that exist', async () => {
    expect(await bench.run(language, 'eco')).toMatchObject({
      error: { code: 'not_found', details: { functions: expect.arrayContaining(['echo']) } },
    });
  });

  it('is refused values that are not JSON, or that exceed the size of a message', async () => {
    expect(await bench.run(language, 'not_json')).toMatchObject({
      error: {
        code: 'raised',
        message: expect.stringContaining('the answer of not_json is not JSON'),
      },
    });
    expect(await bench.run(language, 'large')).toMatchObject({ error: { code: 'too_large' } });
    const input = { text: 'x'.repeat(2_000_000) };
    expect(await bench.run(language, 'echo', { input })).toMatchObject({
      error: { code: 'too_large' },
    });
    const { access, things } = createMemoryStore();
    for (let id = 0; id < 20; id += 1) things.set(`${id}`, { id, name: 'x'.repeat(100_000) });
    expect(await bench.run(language, 'many', { access })).toMatchObject({
      error: { code: 'refused', details: { kind: 'too_large' } },
    });
    expect(await bench.value(language, 'echo', { input: { still: 'here' } })).toEqual({
      still: 'here',
    });
  });

  it('gets the request as a handler, and returns the answer', async () => {
    const shown = await bench.run(language, 'shown', { ...api, input: request });
    expect(shown).toEqual({ ok: true, value: Object.values(request) });
    expect(await bench.run(language, 'created', { ...api, input: request })).toMatchObject({
      ok: true,
      status: 201,
      value: { name: 'new' },
      headers: { location: expect.stringMatching(/^\/things\/\d+$/) },
    });
    expect(await bench.run(language, 'refused', { ...api, input: request })).toEqual({
      ok: false,
      error: { code: 'failed', message: 'answered 422' },
      vendor: {
        status: 422,
        body: { message: 'Validation Failed' },
        headers: { 'x-reason': 'name' },
      },
    });
    for (const odd of ['odd_status', 'interim']) {
      expect(await bench.run(language, odd, { ...api, input: request })).toMatchObject({
        error: { code: 'raised', message: expect.stringContaining('no HTTP status') },
      });
    }
  });

  it('returns the content of a file from a handler, as text', async () => {
    expect(await bench.run(language, 'file', { ...api, input: request })).toEqual({
      ok: true,
      value: 'Ünï',
      status: 200,
      headers: { 'content-type': 'text/html' },
      isFile: true,
    });
    expect(await bench.run(language, 'odd_bytes', { ...api, input: request })).toMatchObject({
      error: { code: 'raised' },
    });
  });

  it('sends an event’s content as it is at the time of the call', async () => {
    const { access, sent } = createMemoryStore();
    await bench.value(language, 'sends', { access });
    await bench.run(language, 'sends', { ...api, access, input: request });
    expect(sent).toEqual([
      {
        type: 'issue.closed',
        body: { number: 7, labels: ['bug'] },
        scope: { repository: 'berth' },
        id: null,
      },
      { type: 'ping', body: null, scope: null, id: 'd-7' },
      { type: 'created', body: { name: 'new' }, scope: { thing: 1 }, id: null },
    ]);
    for (const input of [
      { type: 7, scope: null },
      { type: 'ping', scope: ['berth'] },
      { type: 'ping', scope: null, id: 7 },
    ]) {
      expect(await bench.run(language, 'sends_nonsense', { input })).toMatchObject({
        error: { code: 'refused', details: { kind: 'shape', entity: 'webhooks' } },
      });
    }
  });

  it('answers only by `respond` if it runs before a route', async () => {
    const { access, things } = createMemoryStore();
    const before = { ...api, as: 'before', input: request, access } as const;
    expect(await bench.run(language, 'lets_pass', before)).toEqual({ ok: true, value: null });
    expect([...things.values()]).toEqual([{ id: 5, name: '/things/7' }]);
    expect(await bench.run(language, 'stops', before)).toEqual({
      ok: true,
      value: { message: 'slow down' },
      status: 429,
      headers: { 'retry-after': '60' },
    });
    expect(await bench.run(language, 'refused', before)).toMatchObject({
      ok: false,
      vendor: { status: 422 },
    });
  });

  it('can set headers that are sent with any answer', async () => {
    const ask = (as: 'handler' | 'before', body: unknown) =>
      bench.run(language, 'counted', { ...api, as, input: { ...request, body } });
    const left = { 'x-left': '4' };
    for (const as of ['handler', 'before'] as const) {
      expect(await ask(as, { name: '' })).toEqual({ ok: true, value: null, headers: left });
      const headers = { ...left, 'x-more': '1' };
      expect(await ask(as, { name: 'new' })).toEqual({
        ok: true,
        value: null,
        status: 202,
        headers,
      });
      expect(await ask(as, null)).toMatchObject({ vendor: { headers: { 'x-left': 'none' } } });
    }
  });

  it('collects the checks of a grader', async () => {
    const { access, things } = createMemoryStore();
    const verify = () => bench.value(language, 'verify', { ...grader, access });
    expect(await verify()).toEqual({
      checks: [{ name: 'there is one', passed: false, detail: null }],
    });
    things.set('1', { id: 1, name: 'wrong' });
    expect(await verify()).toEqual({
      checks: [
        { name: 'there is one', passed: true, detail: null },
        { name: 'it is right', passed: false, detail: 'it is wrong' },
      ],
    });
  });

  it('fails as a grader that checks nothing or throws', async () => {
    expect(await bench.run(language, 'idle', grader)).toMatchObject({ error: { code: 'failed' } });
    expect(await bench.run(language, 'broken', grader)).toMatchObject({
      error: { code: 'raised', message: expect.stringContaining('checks/verify') },
    });
  });

  it('gets a fresh worker after a fault of the host, which is thrown', async () => {
    const { access } = createMemoryStore();
    const get = (): never => {
      throw new TypeError('a fault of the host');
    };
    await expect(bench.run(language, 'later', { access: { ...access, get } })).rejects.toThrow(
      'a fault of the host',
    );
    expect(await bench.value(language, 'echo', { input: { a: 1 } })).toEqual({ a: 1 });
  });

  it('fails if the requested file is not part of the code', async () => {
    for (const file of ['../tools.py', '/etc/passwd', 'tools.js', 'missing.py']) {
      expect(await bench.run(language, 'echo', { file })).toMatchObject({
        error: { code: 'load_failed' },
      });
    }
  });
});
