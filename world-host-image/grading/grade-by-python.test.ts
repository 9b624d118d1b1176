/** Tests what a grader in Python can judge, and what happens if its report is invalid. */
import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { issues, openOn, startBench } from '#test/support/host/host-bench.ts';
import { openLedger } from '../ledger/ledger.ts';
import { wholeLedger } from './assertions.ts';
import { readReport } from './grade-by-python.ts';

const open = async (source: string) => {
  const bench = await startBench();
  const api = await openOn(bench.control, { task: { grader: { kind: 'python', source } } });
  return { ...bench, api, grade: () => bench.control.call('grade') };
};

const patient = `
import time
def verify(ctx):
    before = len(ctx.query("issues"))
    time.sleep(0.5)
    ctx.check("nothing changed", ctx.count("issues") == before, f"{before}")
    seen = ctx.query("svc_requests", {"method": "POST"})
    ctx.check("no request is seen that came later", seen == [])
`;

describe('a grade by Python', () => {
  it('does not see changes made meanwhile, and delays no other call', async () => {
    const { api, control, grade } = await open(patient);
    let isGraded = false;
    const graded = grade().then((answer) => {
      isGraded = true;
      return answer;
    });
    await control.handed('call-1');
    await (await api('GET', '/users')).text(); // answered when the copy is made
    expect((await api('POST', issues, { title: 'meanwhile' })).status).toBe(201);
    expect(isGraded).toBe(false);
    expect((await graded).output).toMatchObject({ passed: true, checks: [{ detail: '3' }, {}] });
    expect((await grade()).output).toMatchObject({
      passed: false,
      checks: [{ passed: true, detail: '4' }, { passed: false }],
    });
  });

  it('leaves rows, ledger and ids unchanged, and leaves no file behind', async () => {
    const source = `
from svc_env import clock, ids
def verify(ctx):
    ctx.check("ids", True, ids.uuid() + str(ids.next("issues", "number")) + clock.now())
`;
    const { control, grade, workDir } = await open(source);
    const before = await control.call('state');
    const first = await grade();
    expect(first.error).toBeUndefined();
    expect(await control.call('state')).toEqual(before);
    expect(readdirSync(workDir)).toEqual(['code']);
    expect(existsSync(`${workDir}/code/code-1/checks`)).toBe(false);
  });

  const forge = (line: string): string => `
import json, os
def verify(ctx):
    ctx.check("done", False)
    nonce = ctx._run._nonce
    checks = [{"name": "done", "passed": True, "detail": None}]
    os.write(4, json.dumps(${line}).encode() + b"\\n")
`;
  const done =
    '{"type": "done", "nonce": nonce, "result": {"ok": True, "value": {"checks": checks}}}';

  it.each([
    ['twice', done],
    ['out of turn', '{"type": "ready", "nonce": nonce}'],
    [
      'for another exchange',
      '{"type": "done", "nonce": "guess", "result": {"ok": True, "value": 1}}',
    ],
  ])(
    'reveals nothing of the task in its error if the grader’s process answers %s',
    async (_, line) => {
      const { grade } = await open(forge(line));
      expect((await grade()).output).toMatchObject({
        verdict: 'unknown',
        error: { code: 'crashed' },
      });
    },
  );

  it('ignores a thread that a grader leaves running', async () => {
    const source = `
import threading, time
def verify(ctx):
    threading.Thread(target=lambda: time.sleep(30), daemon=True).start()
    ctx.check("done", True)
`;
    const { grade } = await open(source);
    expect((await grade()).output).toMatchObject({ passed: true });
  });
});

describe('the answer of a grader’s process', () => {
  const check = { name: 'n', passed: true, detail: null };
  const codeOf = (report: unknown): string => {
    try {
      readReport(report);
      return 'taken';
    } catch (error) {
      return (error as { error: { code: string } }).error.code;
    }
  };

  it('must be a list of plain checks, or the grade fails', () => {
    expect(codeOf({ checks: [check] })).toBe('taken');
    for (const none of [null, 1, [], {}, { checks: {} }, { checks: 'passed' }]) {
      expect(codeOf(none)).toBe('bad_grader');
    }
    const wrong = [
      null,
      1,
      { ...check, passed: 1 },
      { ...check, name: 5 },
      { ...check, detail: {} },
    ];
    for (const one of wrong) expect(codeOf({ checks: [check, one] })).toBe('bad_grader');
    expect(codeOf({ checks: [{ passed: true, detail: null }] })).toBe('bad_grader');
    expect(codeOf({ checks: [] })).toBe('failed');
  });

  it('is limited in the number of checks, the length of texts, and the members of a check', () => {
    expect(codeOf({ checks: Array(1_000).fill(check) })).toBe('taken');
    expect(codeOf({ checks: Array(1_001).fill(check) })).toBe('bad_grader');
    const long = { name: 'n'.repeat(5_000), passed: false, detail: 'd'.repeat(5_000), more: 1 };
    const [read] = readReport({ checks: [long] });
    expect(read).toEqual({
      name: `${'n'.repeat(199)}…`,
      verdict: 'fail',
      passed: false,
      expected: null,
      found: null,
      detail: `${'d'.repeat(1_999)}…`,
    });
  });
});

describe('a ledger that has dropped its first entries', () => {
  const note = (operation: string) =>
    ({
      at: '2026-01-01T00:00:00.000Z',
      via: 'api',
      operation,
      method: 'DELETE',
      path: '/x',
      status: 204,
      request: null,
      response: null,
      duration_ms: 1,
      changes: {},
      call_id: null,
    }) as const;

  it('fails every grade that reads it', () => {
    const ledger = openLedger({ limits: { entries: 2, bytes: 1e6, valueChars: 1_000 } });
    for (const name of ['deletes', 'reads']) ledger.note(note(name));
    expect(wholeLedger(ledger.asOfNow().missing)).toEqual([]);
    for (const name of ['reads', 'reads', 'reads']) ledger.note(note(name));
    const now = ledger.asOfNow();
    expect(now.count('svc_requests')).toBe(2);
    expect(wholeLedger(now.missing)).toMatchObject([
      { passed: false, found: '3 of the first are no longer kept' },
    ]);
    ledger.clear(note('reset'));
    ledger.note(note('reads'));
    expect(ledger.asOfNow().missing).toBe(0);
    ledger.close();
  });

  it('looks the same throughout a grade, whatever is recorded meanwhile', () => {
    const ledger = openLedger();
    ledger.note(note('first'));
    const now = ledger.asOfNow();
    ledger.note(note('second'));
    expect(now.count('svc_requests')).toBe(1);
    expect(ledger.count('svc_requests')).toBe(2);
    ledger.close();
  });
});
