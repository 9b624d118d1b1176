/**
 * Malicious inputs through every interface of a world. Each is one call or request: it is stored unchanged, or
 * rejected with nothing changed.
 */
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { notesUpTo, operation, serveApi } from '#test/support/worlds/api-world.ts';

const open = { input: { type: 'object' }, output: true };
const files = {
  'tools.py': 'def python_echo(**given):\n    return given\n',
  'tools.ts': 'export const typescript_echo = (given: object) => given;\n',
  'api/handlers.py': 'def echo(ctx):\n    return ctx.body\n',
};

const api = await serveApi({
  operations: [
    operation('POST', '/notes', 'action = "create"'),
    operation('PATCH', '/notes/{id}', 'action = "update"\nsingle = true\nfilter = { id = "id" }'),
    operation('POST', '/echo', 'action = "handler"\nhandler = "echo"', {
      name: 'echo',
      entity: '',
    }),
  ].join(''),
  notes: notesUpTo(3),
  tools: {
    ...{ create_notes: open, update_notes: open, delete_notes: open, list_notes: open },
    ...{ echo: open, python_echo: open, typescript_echo: open },
  },
  files,
});
beforeEach(() => api.reset());
afterAll(() => api.stop());

const refusals = ['invalid_input', 'invalid_output', 'too_large', 'refused'];
const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const note = (members: string): string => `{"id":9,"title":"x",${members}}`;
const manyKeys = Array.from({ length: 50_000 }, (_, index) => `"k${index}":1`).join();

/** Request bodies, each with a flag: true if the body is a valid note. */
const hostile: [string, string, boolean][] = [
  ['__proto__', note('"__proto__":{"state":"done"}'), false],
  ['constructor', note('"constructor":{"prototype":{"state":"done"}}'), false],
  ['a number with more digits than a double has', '{"id":9007199254740993,"title":"x"}', false],
  ['a number beyond the range of doubles', note('"rank":1e999'), false],
  ['a lone surrogate', note('"key":"\\ud800"'), false],
  ['NUL', note('"key":"a\\u0000b"'), true],
  ['a name with NUL', note('"key\\u0000":"a"'), false],
  ['a member given twice', note('"key":"a","key":"b"'), true],
  ['a deep list', note(`"tags":${nested(60)}`), false],
  ['a deeper list', note(`"tags":${nested(100)}`), false],
  ['an extremely deep list', note(`"tags":${nested(100_000)}`), false],
  ['very many members', `{${manyKeys}}`, false],
  ['a long text', note(`"key":"${'x'.repeat(900_000)}"`), true],
  ['a text that is too long', note(`"key":"${'x'.repeat(10_000_000)}"`), false],
];

const digest = async (): Promise<unknown> =>
  ((await api.call('state', 'state', {})).output as Row).digest;

describe.each(hostile)('the input "%s"', (_, text, isNote) => {
  const input = JSON.parse(text) as Row;

  it('creates a row or changes nothing when it is sent as a tool input or as a request body', async () => {
    const before = await digest();
    const made = await api.call('tool', 'create_notes', input);
    expect(made.error === undefined).toBe(isNote);
    expect((await digest()) === before).toBe(!isNote);
    if (isNote) {
      const listed = await api.call('tool', 'list_notes', { key: input.key ?? null, id: 9 });
      expect(listed.output).toEqual([made.output]);
    }
    await api.reset();
    const { status } = await api.ask('POST', '/notes', { body: text });
    expect([201, 400, 413]).toContain(status);
    expect(status === 201).toBe(isNote);
    expect((await digest()) === before).toBe(!isNote);
  });

  it('is handled without an internal error when it is sent as a key or as a patch', async () => {
    const before = await digest();
    for (const tool of ['update_notes', 'delete_notes']) {
      expect((await api.call('tool', tool, input)).error).toBeDefined();
    }
    const { status } = await api.ask('PATCH', '/notes/9', { body: text });
    expect([400, 404, 413]).toContain(status);
    expect(await digest()).toBe(before);
  });

  it('comes back from user code unchanged, or is refused', async () => {
    for (const tool of ['echo', 'python_echo', 'typescript_echo']) {
      const { output, error } = await api.call('tool', tool, input);
      if (error === undefined) expect(output).toEqual(input);
      else expect(refusals).toContain(error.code);
    }
    const { status } = await api.ask('POST', '/echo', { body: text });
    expect([200, 400, 413]).toContain(status);
    expect(({} as Row).state).toBeUndefined();
  });

  it('is recorded so that the ledger stays readable', async () => {
    await api.call('tool', 'echo', input);
    await api.ask('POST', '/notes', { body: text });
    const { output, error } = await api.call('state', 'state', { entity: 'svc_requests' });
    expect(error).toBeUndefined();
    expect((output as { total: number }).total).toBe(2);
  });
});
