/** Runs a world's tests in both languages, and checks the outcome of each test and the state in which it begins. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { type ServedWorld, serveWorld } from '#test/support/host/serve-world.ts';
import { notesWorld } from '#test/support/worlds/worlds.ts';
import { runCall } from '../call-kinds/run-call.ts';
import type { SuiteReport, TestResult } from './report.ts';
import { runSuite } from './suite.ts';

const log = createLog('tests', 'silent');

let served: ServedWorld;

beforeAll(async () => {
  served = await serveWorld(notesWorld());
});
afterAll(() => served.stop());

const encode = (text: string) => new TextEncoder().encode(text);

const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

const usual = { testMs: 10_000, loadMs: 15_000, suiteMs: 60_000 };

const run = (files: Record<string, string>, limits: Partial<typeof usual> = {}) =>
  runSuite(
    served.session,
    Object.entries(files).map(([path, text]) => ({ path, content: encode(text) })),
    { ...usual, ...limits },
    (of, call) => runCall(of, call, log),
  );

const outcomes = ({ tests }: SuiteReport) =>
  Object.fromEntries(tests.map(({ name, outcome }) => [name, outcome]));
const find = ({ tests }: SuiteReport, name: string): TestResult | undefined =>
  tests.find((test) => test.name.endsWith(name));

const python = `
import pytest
from svc_env.testing import ToolError, world
from svc_env import query

def test_tool_and_rows():
    world.tools.create_notes(id=50, folder_id=1, title="new", done=False)
    assert world.get("notes", {"id": 50})["title"] == "new"
    assert world.insert("folders", {"id": 9, "name": "nine"})["id"] == 9
    assert world.count("folders") == len(query("folders"))

def test_begins_anew():
    assert world.get("notes", {"id": 50}) is None

def test_tool_error():
    with pytest.raises(ToolError) as caught:
        world.tools.create_notes(id=51, folder_id=999, title="x", done=False)
    assert caught.value.code

def test_wrong():
    print("said on the way")
    found = {"title": "one"}
    assert found == {"title": "two"}

@pytest.mark.skip
def test_later():
    pass

@pytest.mark.parametrize("n", [1, 2])
def test_each(n):
    assert n == 1

def test_refused():
    world.insert("notes", {})
`;

const typescript = `
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { ToolError, world } from 'svc_env/testing';

test('tool and rows', async () => {
  await world.tools.create_notes({ id: 50, folder_id: 1, title: 'new', done: false });
  assert.equal((await world.get('notes', { id: 50 }))?.title, 'new');
});
describe('a group', () => {
  it('begins anew', async () => {
    assert.equal(await world.get('notes', { id: 50 }), null);
  });
  it('is wrong', () => {
    console.log('said on the way');
    assert.deepEqual({ title: 'one' }, { title: 'two' });
  });
  it.skip('later', () => {});
});
test('has a wrong part', async (t) => {
  await t.test('part', () => assert.equal(1, 2));
});
test('twice', () => assert.equal(1, 2));
test('twice', () => {});
test('a tool that fails', async () => {
  const wrong = world.tools.create_notes({ id: 51, folder_id: 999, title: 'x', done: false });
  await assert.rejects(wrong, ToolError);
});
`;

describe('tests in Python', () => {
  it('are each reported with outcome, output and failure, over fresh rows', async () => {
    const before = served.rows('notes', {});
    const report = await run({ 'tests/test_notes.py': python });
    expect(outcomes(report)).toEqual({
      'tests/test_notes.py::test_tool_and_rows': 'passed',
      'tests/test_notes.py::test_begins_anew': 'passed',
      'tests/test_notes.py::test_tool_error': 'passed',
      'tests/test_notes.py::test_wrong': 'failed',
      'tests/test_notes.py::test_later': 'skipped',
      'tests/test_notes.py::test_each[1]': 'passed',
      'tests/test_notes.py::test_each[2]': 'failed',
      'tests/test_notes.py::test_refused': 'failed',
    });
    expect(report).toMatchObject({ passed: false, summary: { total: 8, passed: 4, failed: 3 } });
    const wrong = find(report, 'test_wrong');
    expect(wrong).toMatchObject({
      output: 'said on the way\n',
      failure: { file: 'tests/test_notes.py', line: 23 },
    });
    expect(wrong?.failure?.text).toContain("{'title': 'one'} != {'title': 'two'}");
    expect(find(report, 'test_refused')?.failure).toMatchObject({
      file: 'tests/test_notes.py',
      line: 34,
    });
    expect(served.rows('notes', {})).toEqual(before);
  });

  it('that end or hang their process, or flood its output, are reported with that outcome, and the other tests run', async () => {
    const report = await run(
      {
        'tests/test_hard.py': `
import os, sys
def test_first(): pass
def test_exit(): os._exit(3)
def test_hang():
    while True: pass
def test_flood():
    while True: os.write(1, b"x" * 65536)
def test_memory():
    held = []
    while True: held.append(bytearray(b"x" * (1 << 24)))
def test_last(): pass
`,
      },
      { testMs: 1_500 },
    );
    const memory = find(report, 'test_memory')?.outcome;
    expect(['out_of_memory', 'failed']).toContain(memory);
    expect(outcomes(report)).toMatchObject({
      'tests/test_hard.py::test_first': 'passed',
      'tests/test_hard.py::test_exit': 'crashed',
      'tests/test_hard.py::test_hang': 'timed_out',
      'tests/test_hard.py::test_flood': 'too_much_output',
      'tests/test_hard.py::test_last': 'passed',
    });
    expect(find(report, 'test_hang')?.failure).toMatchObject({
      message:
        'tests/test_hard.py::test_hang: it was not over after 1.5 s; it was stopped at tests/test_hard.py:6 in test_hang',
      file: 'tests/test_hard.py',
      line: 6,
    });
  });

  it('that hang in code that they call are reported with their stack, even if the interpreter is stuck', async () => {
    const report = await run(
      {
        'tests/steps.py': `
import re
def deeper():
    re.match("(a+)+$", "a" * 60 + "b")
`,
        'tests/test_stuck.py': `
from steps import deeper
def test_stuck():
    deeper()
`,
      },
      { testMs: 1_500 },
    );
    expect(find(report, 'test_stuck')?.failure).toMatchObject({
      file: 'tests/steps.py',
      line: 4,
      text: expect.stringMatching(
        /tests\/test_stuck\.py:4 in test_stuck\ntests\/steps\.py:4 in deeper/,
      ),
    });
  });

  it('that cannot be imported, or hang during their import, are reported as failed files', async () => {
    const report = await run(
      {
        'tests/test_a.py': 'import nothing_there\n',
        'tests/test_b.py': 'while True: pass\n',
        'tests/test_c.py': 'def test_fine(): pass\n',
        'tests/test_d.py': 'def test_broken(:\n',
      },
      { loadMs: 6_000 },
    );
    expect(outcomes(report)).toEqual({
      'tests/test_a.py': 'error',
      'tests/test_b.py': 'timed_out',
      'tests/test_c.py::test_fine': 'passed',
      'tests/test_d.py': 'error',
    });
    expect(find(report, 'test_a.py')?.failure?.text).toContain('nothing_there');
    expect(find(report, 'test_b.py')?.failure).toMatchObject({
      message: expect.stringContaining('stopped at tests/test_b.py:1 in <module>'),
      line: 1,
    });
  });

  it('can use neither the network nor files nor processes', async () => {
    const report = await run({
      'tests/test_out.py': `
import os, socket, subprocess
def test_network(): socket.create_connection(("127.0.0.1", 80), 1)
def test_read(): open("/etc/hostname").read()
def test_write(): open("/tmp/written-by-a-test", "w")
def test_process(): subprocess.run(["true"])
`,
    });
    expect(Object.values(outcomes(report))).toEqual(['failed', 'failed', 'failed', 'failed']);
    expect(find(report, 'test_network')?.failure?.message).toContain('may not use the network');
  });

  it('for which no time is left are reported as not run', async () => {
    const report = await run(
      { 'tests/test_a.py': 'while True: pass\n', 'tests/test_b.py': 'def test_b(): pass\n' },
      { suiteMs: 2_000 },
    );
    expect(outcomes(report)).toEqual({
      'tests/test_a.py': 'timed_out',
      'tests/test_b.py': 'not_run',
    });
    expect(find(report, 'test_a.py')?.failure?.message).toContain(
      'the 2 s of all tests were over; it was stopped',
    );
    expect(report.passed).toBe(false);
  });
});

describe('tests in TypeScript', () => {
  it('are each reported with outcome, output and failure, over fresh rows', async () => {
    const report = await run({ 'tests/notes.test.ts': typescript });
    expect(outcomes(report)).toEqual({
      'tests/notes.test.ts::tool and rows': 'passed',
      'tests/notes.test.ts::a group > begins anew': 'passed',
      'tests/notes.test.ts::a group > is wrong': 'failed',
      'tests/notes.test.ts::a group > later': 'skipped',
      'tests/notes.test.ts::has a wrong part': 'failed',
      'tests/notes.test.ts::twice': 'failed',
      'tests/notes.test.ts::a tool that fails': 'passed',
    });
    const wrong = find(report, 'is wrong');
    expect(wrong).toMatchObject({
      output: 'said on the way\n',
      failure: { file: 'tests/notes.test.ts', line: 16 },
    });
    expect(wrong?.failure?.text).toContain('expected: {"title":"two"}');
  });

  it('that end or hang their process, or cannot be imported, are reported with that outcome, and the other tests run', async () => {
    const report = await run(
      {
        'tests/hard.test.ts': `
import { test } from 'node:test';
test('first', () => {});
test('hang', () => { while (true); });
test('memory', () => { const held = []; while (true) held.push(new Array(1e6).fill(held.length)); });
test('network', async () => { await import('node:net'); });
test('last', () => {});
`,
        'tests/none.test.ts': `import './nothing.ts';`,
      },
      { testMs: 6_000 },
    );
    expect(outcomes(report)).toEqual({
      'tests/hard.test.ts::first': 'passed',
      'tests/hard.test.ts::hang': 'timed_out',
      'tests/hard.test.ts::memory': 'out_of_memory',
      'tests/hard.test.ts::network': 'failed',
      'tests/hard.test.ts::last': 'passed',
      'tests/none.test.ts': 'error',
    });
    expect(find(report, 'hang')?.failure).toMatchObject({
      message: 'tests/hard.test.ts::hang: it was not over after 6 s; it was stopped',
      file: 'tests/hard.test.ts',
      line: 4,
    });
  });
});

it('a run of a world without tests fails with an explanation of where tests must be', async () => {
  await expect(run({ 'tests/README.md': '' })).rejects.toMatchObject({
    error: { code: 'no_tests' },
  });
});

it('if the code of the world cannot be imported, its tests do not run, and the report names the file and line', async () => {
  const tree = notesWorld().map((file) =>
    file.path === 'tools.py'
      ? { ...file, content: encode(`RATE = 1 / 0\n${decode(file.content)}`) }
      : file,
  );
  const broken = await serveWorld(tree);
  try {
    const files = [{ path: 'tests/test_a.py', content: encode('def test_a(): pass\n') }];
    await expect(
      runSuite(broken.session, files, usual, (of, call) => runCall(of, call, log)),
    ).rejects.toMatchObject({
      error: {
        code: 'load_failed',
        message:
          'tools.py cannot be imported: ZeroDivisionError: division by zero (tools.py:1 in <module>)',
      },
    });
  } finally {
    await broken.stop();
  }
});
