import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { agentOutputLimits, outcomeOfExit } from '#domain/agent-end.ts';
import { until } from '#runtime/pause.ts';
import { type AgentCommand, envOfAgent, runAgent } from './run-agent.ts';

/** Runs a shell script. */
const run = (command: string, more: Partial<AgentCommand> = {}) =>
  runAgent({
    ...{ command, cwd: tmpdir(), env: { PATH: process.env.PATH } },
    ...{ signal: new AbortController().signal, say: () => {}, ...more },
  });

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe("an agent's command", () => {
  it('reports its exit status and its output, in the order of arrival', async () => {
    let said = '';
    const say = (text: string) => {
      said += text;
    };
    const exit = await run('echo one; echo two >&2; exit 3', { say });
    expect(exit).toMatchObject({
      ...{ exitCode: 3, signal: null, hasTimedOut: false, lastLines: ['two'], outputCut: false },
    });
    expect(exit.output.split('\n').toSorted()).toEqual(['', 'one', 'two']);
    expect(said).toBe(exit.output);
  });

  it('reports the signal that ended it', async () => {
    expect(await run('kill -9 $$')).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
  });

  it('reports a command that the shell cannot find as missing', async () => {
    const exit = await run('no-such-agent --go');
    expect(exit).toMatchObject({ exitCode: 127, lastLines: [expect.stringMatching(/not found/)] });
  });

  it('keeps the beginning and the end of a long output, and the last lines on standard error', async () => {
    const exit = await run(`echo first; seq 1 60000; echo last; seq 1 90 >&2`);
    expect(exit.outputCut).toBe(true);
    expect(exit.output).toMatch(/^first\n1\n/);
    expect(exit.output).toContain('\n[… left out …]\n');
    expect(exit.output).toMatch(/(last|90)\n$/);
    expect(exit.output.length).toBeLessThanOrEqual(agentOutputLimits.chars);
    expect(exit.lastLines).toEqual(Array.from({ length: 20 }, (_, at) => String(71 + at)));
  });

  it('does not cut an output that just fits, nor a character of several bytes', async () => {
    const chars = agentOutputLimits.chars - 100;
    const exit = await run(`head -c ${chars} /dev/zero | tr '\\0' x; printf 'ü→🙂'`);
    expect(exit).toMatchObject({ output: `${'x'.repeat(chars)}ü→🙂`, outputCut: false });
  });

  it('is killed with its child processes at its time limit', async () => {
    const exit = await run('sleep 600 & echo $!; wait', { timeoutSeconds: 1 });
    expect(exit).toMatchObject({ hasTimedOut: true, exitCode: null, signal: 'SIGTERM' });
    const pid = Number(exit.output);
    expect(pid).toBeGreaterThan(1);
    await until(async () => !isAlive(pid), { timeoutMs: 9_000, what: 'the end of its child' });
  });

  it('is killed when its signal aborts, which does not count as its own exit', async () => {
    const stopping = new AbortController();
    let pid = 0;
    const say = (text: string) => {
      pid = Number(text);
      stopping.abort();
    };
    await expect(run('echo $$; exec sleep 600', { signal: stopping.signal, say })).rejects.toThrow(
      /abort/,
    );
    expect(isAlive(pid)).toBe(false);
  });

  it('throws if the command cannot be started', async () => {
    await expect(run('true', { cwd: '/no/such/folder' })).rejects.toThrow(/ENOENT/);
  });
});

describe('the environment of an agent', () => {
  it("contains the caller's variables except the caller's keys", () => {
    const caller = { HOME: '/h', SVC_PUBLIC_KEY: 'pk', SVC_SECRET_KEY: 'sk', SVC_API_TOKEN: 'pat' };
    expect(envOfAgent(caller, { SVC_API_TOKEN: 'st-1' })).toEqual({
      ...{ HOME: '/h', SVC_API_TOKEN: 'st-1' },
    });
  });
});

describe('the outcome of an exit', () => {
  it.each([
    [0, false, 'ended'],
    [1, true, 'ended'],
    [null, true, 'ended'],
    [127, true, 'ended'],
    [1, false, 'failed'],
    [null, false, 'failed'],
    [126, false, 'missing'],
    [127, false, 'missing'],
  ])('with status %s (the agent sent requests: %s) is "%s"', (status, hasActed, outcome) => {
    expect(outcomeOfExit(status, hasActed)).toBe(outcome);
  });
});
