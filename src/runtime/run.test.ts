import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const cwd = fileURLToPath(new URL('../..', import.meta.url));

/** Runs a program whose object `Running` has this source text; returns the program's exit code and output. */
const end = (running: string) =>
  new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    const text = `import { runProgram } from './src/runtime/run.ts';
      const stop = async () => { process.stdout.write('stopped'); };
      await runProgram(async () => (${running}), { stopDeadlineMs: 1_000 });`;
    const words = ['--input-type=module', '-e', text];
    execFile(process.execPath, words, { cwd }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });

describe('a program', () => {
  it('that has nothing left to do stops with exit code 0', async () => {
    const ended = await end('{ stop, ended: Promise.resolve() }');
    expect(ended).toEqual({ code: 0, stdout: 'stopped', stderr: '' });
  });

  it('that cannot continue stops, logs the reason, and exits with a failure', async () => {
    const ended = await end("{ stop, ended: Promise.reject(new Error('all is gone')) }");
    expect(ended).toEqual({ code: 1, stdout: 'stopped', stderr: 'all is gone\n' });
  });
});
