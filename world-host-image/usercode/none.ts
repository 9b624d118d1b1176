/** Placeholder of the runner for worlds without user code. Its functions are never called to run code. */
import type { UserCode } from './runner.ts';

export const noUserCode: UserCode = {
  bounds: { python: 'python3', mode: 'auto' },
  load: async () => [],
  run: async () => ({
    ok: false,
    error: { code: 'load_failed', message: 'the world has no user code' },
  }),
  startGrader() {
    throw new Error('a world without user code has no grader of its own');
  },
  startTester() {
    throw new Error('a world without user code runs no tests');
  },
  restart: async () => undefined,
  processes: () => ({ live: [], started: [] }),
  stop: async () => undefined,
};
