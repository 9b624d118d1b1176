/** Tests a job in a compile process that uses up its time limit. */
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { type CompileProcess, startCompileProcess } from './process.ts';

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

const bytes = Buffer.from('{}');
const work = {
  kind: 'read',
  operation: 'createWorld',
  isKeyed: false,
  form: 'json',
  bytes,
} as const;

const isLinux = process.platform === 'linux';
if (!isLinux) console.info('compile processes are not tested: this is no Linux');

describe.skipIf(!isLinux)('a compile process', () => {
  let started: CompileProcess;

  afterEach(() => started.kill());

  it('that gets no processor time reports an overloaded machine instead of a problem with its input', async () => {
    const before = new Set(childrenOf(process.pid));
    started = startCompileProcess({ timeLimitMs: 500, memoryMb: 64 });
    const [pid] = childrenOf(process.pid).filter((child) => !before.has(child));
    // On a machine that really is overloaded, the first job may be rejected like this already.
    const answers = started.run(work).then(() => {
      process.kill(pid ?? 0, 'SIGSTOP');
      return started.run(work);
    });
    await expect(answers).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('the machine is overloaded'),
      detail: { retryAfterMs: 5_000 },
    });
    expect(started.isAlive()).toBe(false);
  });
});
