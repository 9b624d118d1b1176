/** A context of the CLI for tests. It records output, and its environment is the one that the test gives. */
import type { Env } from '#runtime/env.ts';
import { type Context, createContext } from '../../../src/cli/terminal/context.ts';

export type TestContext = Context & {
  written(): { out: string; err: string };
  status(): number;
};

export type TestContextParts = { env?: Env; cwd?: string; isTerminal?: boolean; stdin?: string };

export const testContext = (parts: TestContextParts = {}): TestContext => {
  const { env = {}, cwd = '/', isTerminal = false, stdin = '' } = parts;
  const written = { out: '', err: '' };
  let status = 0;
  const outputTo = (name: 'out' | 'err') => ({
    write: (text: string) => {
      written[name] += text;
    },
    drained: async () => undefined,
    isTerminal,
    columns: 80,
  });
  const context = createContext({
    env,
    cwd,
    out: outputTo('out'),
    err: outputTo('err'),
    readStdin: async () => Buffer.from(stdin),
    stdin: async function* () {
      yield Buffer.from(stdin);
    },
    setExitStatus: (given) => {
      status = given;
    },
  });
  return { ...context, written: () => ({ ...written }), status: () => status };
};
