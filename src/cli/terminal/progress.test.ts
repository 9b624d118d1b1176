import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { testContext } from '#test/support/cli/context.ts';
import { type Progress, withProgress } from './progress.ts';

describe('withProgress', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const begin = (isTerminal: boolean) => {
    const context = testContext({ isTerminal });
    const ended = Promise.withResolvers<string>();
    let progress: Progress | undefined;
    const done = withProgress({ out: context.out, step: 'pulling' }, (given) => {
      progress = given;
      return ended.promise;
    });
    return { context, ended, done, progress: progress as unknown as Progress };
  };

  it('shows no progress for work that ends within two seconds', async () => {
    const { context, ended, done } = begin(true);
    vi.advanceTimersByTime(1_900);
    ended.resolve('value');
    expect(await done).toBe('value');
    expect(context.written().out).toBe('');
  });

  it('rewrites one line on a terminal, and erases it at the end', async () => {
    const { context, ended, done } = begin(true);
    vi.advanceTimersByTime(3_000);
    const shown = context.written().out;
    expect(shown).toContain('pulling … 2.');
    expect(shown).not.toContain('\n');
    ended.resolve('');
    await done;
    expect(context.written().out.endsWith('\r\u001b[2K')).toBe(true);
  });

  it('writes plain lines to other outputs: at each new step, and every ten seconds', async () => {
    const { context, ended, done, progress } = begin(false);
    vi.advanceTimersByTime(9_000);
    progress.showStep('building');
    vi.advanceTimersByTime(12_000);
    ended.resolve('');
    await done;
    expect(context.written().out).toBe(
      '… pulling (2.0 s)\n… building (9.0 s)\n… building (19.0 s)\n',
    );
  });

  it('does not write a line for each number of the same step', () => {
    const { context, progress } = begin(false);
    vi.advanceTimersByTime(3_000);
    for (let rows = 1; rows <= 10_000; rows += 999) {
      progress.showStep(
        `sending [###${'#'.repeat(rows % 7)}---]: ${rows.toLocaleString('en-US')} rows`,
      );
    }
    expect(context.written().out.split('\n')).toHaveLength(3);
  });

  it('keeps printed lines separate from the progress line', async () => {
    const { context, ended, done, progress } = begin(true);
    vi.advanceTimersByTime(2_500);
    progress.print('a fact\n');
    expect(context.written().out.endsWith('\r\u001b[2Ka fact\n')).toBe(true);
    ended.resolve('');
    await done;
  });

  it('treats nested progress as a part of the outer step', async () => {
    const { context, ended, done } = begin(false);
    const inner = withProgress(
      { out: context.out, step: 'asking' },
      async ({ showStep, print }) => {
        showStep('asking again');
        print('a fact\n');
        await ended.promise;
      },
    );
    vi.advanceTimersByTime(2_500);
    ended.resolve('');
    await Promise.all([done, inner]);
    expect(context.written().out).toBe('a fact\n… pulling (2.0 s)\n');
  });

  it('removes the progress line if the work fails, and rethrows its error', async () => {
    const { context, ended, done } = begin(true);
    vi.advanceTimersByTime(2_500);
    ended.reject(new Error('broken'));
    await expect(done).rejects.toThrow('broken');
    expect(context.written().out.endsWith('\r\u001b[2K')).toBe(true);
  });
});
