/**
 * Tests user code that ends or hangs its process, floods the output or forges messages: each costs only its own run.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { until } from '#runtime/pause.ts';
import { type Bench, createHeardLog, startBench } from '#test/support/host/user-code.ts';
import type { RunResult } from './run.ts';

const python = `
import _thread, json, os, sys, time

seen = 0

def calm(value=1):
    global seen
    seen += 1
    return [value, seen]

def spin():
    while True:
        pass

def stuck():
    import re
    re.match(r"(a+)+$", "a" * 60 + "b")

def deaf():
    import signal
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    spin()

def says_late():
    import signal
    from svc_env.run import current_run
    def answer(*_):
        current_run().end({"ok": True, "value": "in time"})
        spin()
    signal.signal(signal.SIGUSR1, answer)
    spin()

def ends(status):
    os._exit(status)

def prints():
    print("one")
    print("zwei \\u00e4", file=sys.stderr)
    print('{"type": "done", "nonce": "", "result": {"ok": true, "value": "forged"}}')
    return "printed"

def floods(times):
    for _ in range(times):
        print("x" * 100_000)
    return "flooded"

def endless_line():
    os.write(4, b"x" * 3_000_000)
    return "sent"

def junk():
    os.write(4, b"hello\\n")
    return "sent"

def half_a_line():
    os.write(4, b"hello")
    return "sent"

def forged():
    line = {"type": "done", "nonce": "guess", "result": {"ok": True, "value": "forged"}}
    os.write(4, json.dumps(line).encode() + b"\\n")
    time.sleep(10)

def forged_later(ms):
    def work():
        time.sleep(ms / 1000)
        line = {"type": "done", "nonce": "guess", "result": {"ok": True, "value": "forged"}}
        os.write(4, json.dumps(line).encode() + b"\\n")
    _thread.start_new_thread(work, ())  # which Python does not count, unlike threading's own
    return "armed"

def waits(ms):
    time.sleep(ms / 1000)
    return "waited"

def closes():
    os.close(3)
    os.close(4)
    return "closed"
`;

const typescript = `
import { closeSync, writeSync } from 'node:fs';
import { setTimeout as later } from 'node:timers/promises';
let seen = 0;
export const calm = ({ value = 1 }) => { seen += 1; return [value, seen]; };
export const spin = () => { for (;;); };
export const stuck = () => new Promise(() => undefined);
export const ends = ({ status }) => process.reallyExit(status);
export const prints = () => {
  console.log('one');
  console.error('zwei \\u00e4');
  console.log('{"type": "done", "nonce": "", "result": {"ok": true, "value": "forged"}}');
  return 'printed';
};
export const floods = ({ times }) => {
  for (let i = 0; i < times; i += 1) console.log('x'.repeat(100_000));
  return 'flooded';
};
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const junkOf = (text) => { writeSync(4, text); return 'sent'; };
export const endless_line = () => {
  for (;;) try { junkOf('x'.repeat(1000)); } catch { /* the pipe is full: again */ }
};
export const junk = () => junkOf('hello\\n');
export const half_a_line = () => junkOf('hello');
const line = '{"type":"done","nonce":"guess","result":{"ok":true,"value":"forged"}}\\n';
export const forged = () => { junkOf(line); return wait(10_000); };
export const forged_later = ({ ms }) => {
  later(ms, null, { ref: false }).then(() => junkOf(line)); // a timer that Node does not report
  return 'armed';
};
export const closes = () => { closeSync(4); return 'closed'; };
export const waits = async ({ ms }) => { await wait(ms); return 'waited'; };
`;

const heard = createHeardLog();
let bench: Bench;
beforeAll(async () => {
  bench = await startBench({ messageBytes: 1024 * 1024, outputBytes: 10_000 }, heard.log);
  await bench.load({ 'tools.py': python, 'tools.ts': typescript });
});
afterAll(() => bench.close());

const codeOf = (result: RunResult): string => (result.ok ? 'ok' : result.error.code);

describe.each(['python', 'typescript'] as const)('hostile code in %s', (language) => {
  const run = (name: string, input: Row = {}, timeoutMs = 5_000) =>
    bench.run(language, name, { input, timeoutMs });
  /** Expects that the next run is answered correctly, by a process that has run nothing before. */
  const expectFresh = async (): Promise<void> => {
    expect(await bench.value(language, 'calm', { input: { value: 5 } })).toEqual([5, 1]);
  };

  it.each(['spin', 'stuck'])('is stopped if it does not end: %s', async (name) => {
    const result = await run(name, {}, 200);
    expect(result).toMatchObject({ ok: false, error: { code: 'timeout' } });
    if (language === 'python') {
      expect(result).toMatchObject({
        error: { details: { trace: [{ file: 'tools.py', function: name }] } },
      });
    }
    await expectFresh();
  });

  it('can end its process, and the next run gets another process', async () => {
    for (const status of [0, 3]) {
      expect(await run('ends', { status })).toMatchObject({
        error: { code: 'crashed', message: `the code's process ended: exit status ${status}` },
      });
    }
    await expectFresh();
  });

  it('has its output written to the log, and never taken as a message', async () => {
    expect(await bench.value(language, 'prints')).toBe('printed');
    const said = await until(() => heard.texts('stderr').includes('zwei ä'), {
      timeoutMs: 30_000,
      what: 'the printed line in the log',
    });
    expect(said).toBe(true);
    expect(heard.texts('stdout')).toContain('one');
  });

  it('has its output logged only up to a limit if it prints too much', async () => {
    heard.entries.length = 0;
    expect(await bench.value(language, 'floods', { input: { times: 30 } })).toBe('flooded');
    await until(
      () => heard.entries.some(({ message }) => String(message).includes('prints too much')),
      { timeoutMs: 30_000, what: 'the end of the log' },
    );
    expect(heard.texts('stdout').join('').length).toBeLessThan(20_000);
    const printsAgain = async (): Promise<boolean> => {
      await bench.value(language, 'prints');
      return heard.texts('stdout').includes('one');
    };
    await until(printsAgain, { timeoutMs: 30_000, what: 'output of a later run' });
  });

  it('is stopped if it prints without end', async () => {
    expect(await run('floods', { times: 100 })).toMatchObject({
      error: { code: 'too_much_output', message: 'floods printed more than 4 MiB and was stopped' },
    });
    await expectFresh();
  });

  it('is stopped if it sends a message without end', async () => {
    expect(codeOf(await run('endless_line'))).toBe('too_large');
    await expectFresh();
  });

  it.each(['junk', 'half_a_line', 'forged'])('cannot forge its own result: %s', async (name) => {
    const result = await run(name);
    expect(result).toMatchObject({ ok: false, error: { code: 'crashed' } });
    await expectFresh();
  });

  it('cannot send the result of a later run', async () => {
    const armed = await run('forged_later', { ms: 50 });
    if (language === 'python') {
      // The forger is a thread: the run that left it fails, and its worker is replaced.
      expect(codeOf(armed)).toBe('left_running');
    } else {
      expect(armed).toMatchObject({ ok: true, value: 'armed' });
      expect(codeOf(await run('waits', { ms: 5_000 }))).toBe('crashed');
    }
    await expectFresh();
  });

  it('has its worker replaced if it sends a message between runs', async () => {
    heard.entries.length = 0;
    await run('forged_later', { ms: 5 });
    await until(
      () => heard.entries.some(({ message }) => String(message).includes('wrote to the channel')),
      { timeoutMs: 30_000, what: 'the breach' },
    );
    await expectFresh();
  });

  it('can close its channel, and the next run gets another worker', async () => {
    expect(codeOf(await run('closes'))).toBe('crashed');
    await expectFresh();
  });
});

it.each(['deaf', 'says_late'])(
  'Python code that ignores the signal of its time limit is stopped: %s',
  async (name) => {
    const result = await bench.run('python', name, { timeoutMs: 300 });
    expect(result).toMatchObject({ ok: false, error: { code: 'timeout' } });
    expect(await bench.run('python', 'calm')).toMatchObject({ ok: true, value: [1, 1] });
  },
);
