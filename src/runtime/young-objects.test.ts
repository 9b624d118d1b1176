import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const cwd = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Runs `first`, then creates many objects that survive. Returns the number of places in the code whose new objects V8
 * then allocates in the old generation.
 */
const placesAmongOld = async (first: string): Promise<number> => {
  const text = `import { putNewObjectsAmongYoung } from './src/runtime/young-objects.ts';
    ${first}
    const make = (n) => ({ n, inner: { n }, list: [n] });
    const kept = [];
    for (let n = 0; n < 1_000_000; n += 1) kept.push(make(n));`;
  const tracing = ['--trace-pretenuring', '--trace-pretenuring-statistics'];
  // Code that is not optimised keeps counting its allocations while it runs, however busy the machine is.
  const words = [...tracing, '--no-opt', '--no-maglev', '--input-type=module', '-e', text];
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd });
  return stdout.split('\n').filter((line) => line.endsWith('=> tenure')).length;
};

it('new objects start in the young generation, even where many objects of one call site survived', async () => {
  expect(await placesAmongOld('')).toBeGreaterThan(0);
  expect(await placesAmongOld('putNewObjectsAmongYoung();')).toBe(0);
});
