/**
 * Outputs of user code that the control plane would reject. Each makes its own call fail, and the call's writes are
 * rolled back; the session continues. The test checks answers with the control plane's own rules.
 */
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '#domain/limits.ts';
import { operation, serveApi } from '#test/support/worlds/api-world.ts';
import { holdsInheriting, measureJson } from '#wire/json-extent.ts';
import { findAnswerFault } from './answerable.ts';

const python = `
import importlib, json, os
from svc_env import fail, insert

current_run = importlib.import_module("svc_env.run").current_run

def nested(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value

def write(message):
    line = json.dumps(message | {"nonce": current_run()._nonce})
    os.write(4, line.replace('"DEEP"', "[" * 1_000_000 + "]" * 1_000_000).encode() + b"\\n")

def inherits(name):
    insert("notes", {"id": 9, "title": "x"})
    return {name: {"prototype": 1}}

def deep():
    insert("notes", {"id": 9, "title": "x"})
    return nested(300)

def fails_deep():
    fail("no", code="mine", tree=nested(300))

def fails_inheriting():
    fail("no", code="mine", tree={"__proto__": 1})

def writes_done():
    error = {"code": "x", "message": "y", "details": "DEEP"}
    write({"type": "done", "result": {"ok": False, "error": error}})
    return 1

def asks_deep():
    write({"type": "ask", "id": 1, "operation": "insert", "arguments": {"entity": "notes", "row": {"id": 9, "title": "DEEP"}}})
    return current_run()._channel.receive()["refusal"]["detail"]
`;

const open = { input: { type: 'object' }, output: true };
const names = ['inherits', 'deep', 'fails_deep', 'fails_inheriting', 'writes_done', 'asks_deep'];
const api = await serveApi({
  operations: operation('POST', '/notes', 'action = "create"'),
  tools: { list_notes: open, ...Object.fromEntries(names.map((name) => [name, open])) },
  files: { 'tools.py': python },
});
beforeEach(() => api.reset());
afterAll(() => api.stop());

/**
 * Returns a call's error. Checks that the control plane would accept the answer, and that no row written by the call
 * remains.
 */
const errorOf = async (name: string, input = {}) => {
  const answer = await api.call('tool', name, input);
  const body = { generation: 1, answer };
  const text = JSON.stringify(body);
  expect(measureJson(text).levels).toBeLessThanOrEqual(limits.bodyLevels);
  expect(holdsInheriting(text, body)).toBe(false);
  expect((await api.call('tool', 'list_notes', {})).output).toEqual([]);
  return answer.error;
};

describe('a tool output that the public API cannot return', () => {
  it.each(['__proto__', 'constructor'])(
    'fails its call, which then writes nothing, if the output has a member "%s"',
    async (name) => {
      const message = expect.stringContaining('has a member "__proto__"');
      expect(await errorOf('inherits', { name })).toMatchObject({
        code: 'invalid_output',
        message,
      });
    },
  );

  it.each(['deep', 'fails_deep'])(
    'fails its call if the output is nested too deep: %s',
    async (name) => {
      expect(await errorOf(name)).toMatchObject({
        code: 'invalid_output',
        message: 'the answer of the code nests deeper than 200 levels',
      });
    },
  );

  it('is left out if it is the details of an error, which keeps its code and message', async () => {
    expect(await errorOf('fails_inheriting')).toEqual({
      code: 'mine',
      message: 'no',
      details: { leftOut: expect.stringContaining('__proto__') },
    });
  });

  it('is also refused as the argument of a store operation', async () => {
    const { output } = await api.call('tool', 'asks_deep', {});
    expect(output).toBe('the argument nests deeper than 200 levels');
  });

  it('fails the call even if the code writes it to the worker’s channel itself', async () => {
    expect(await errorOf('writes_done')).toMatchObject({ code: 'invalid_output' });
  });
});

describe('findAnswerFault', () => {
  const nested = (levels: number): unknown =>
    JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);

  it.each([
    ['accepts the maximum number of levels', nested(198), undefined],
    ['refuses one level more', nested(199), 'invalid_output'],
    [
      'refuses so many levels that the value cannot be serialized',
      nested(1_000_000),
      'invalid_output',
    ],
    ['refuses a text that is too long', 'x'.repeat(5_000_000), 'too_large'],
  ])('%s', (_, output, code) => {
    expect(findAnswerFault({ output })?.code).toBe(code);
  });
});
