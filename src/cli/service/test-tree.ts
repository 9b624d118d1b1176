/** Runs the tests of a tree on this machine with a program of the world host, without the service. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { AppError } from '#domain/error.ts';
import type { TreeFile } from '#domain/world.ts';
import type { Context } from '../terminal/context.ts';
import type { TestReport } from '../views/tests.ts';

const program = fileURLToPath(new URL('../../../world-host-image/test-tree.ts', import.meta.url));

/** Runs the tests. Throws `invalid` with the reason if the tests cannot be run. */
export const testTree = async (
  { env }: Context,
  tree: readonly TreeFile[],
): Promise<TestReport> => {
  const child = spawn(process.execPath, [program], {
    env: env.PATH === undefined ? {} : { PATH: env.PATH },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(
    JSON.stringify(
      Object.fromEntries(
        tree.map(({ path, content }) => [path, Buffer.from(content).toString('base64')]),
      ),
    ),
  );
  const said = await text(child.stdout);
  if (said === '')
    throw new AppError('internal', 'the program that runs tests ended without a report');
  const answer = JSON.parse(said) as { report: TestReport } | { error: { message: string } };
  if ('report' in answer) return answer.report;
  throw new AppError('invalid', answer.error.message);
};
