/**
 * Runs the tests of one file by Node's test runner, and reports the beginning and end of each test to the host. The
 * host is informed of the file before it is imported, and of a test before it runs. The host therefore knows which file
 * or test ended or hung this process.
 */
import { join } from 'node:path';
import { afterEach, beforeEach, run } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { currentRun } from './current-run.ts';

type Json = { [field: string]: unknown };
type TestEvent = {
  type: string;
  data: {
    name: string;
    testId: number;
    parentId: number;
    file?: string;
    line?: number;
    skip?: boolean | string;
    todo?: boolean | string;
    type?: string;
    details?: { error?: Error; type?: string; passed?: boolean };
  };
};
type Context = {
  fullName: string;
  filePath?: string;
  passed?: boolean;
  error?: Error | null;
};

/**
 * Maximum number of characters that are reported of a test's output. The next constant is the maximum for the text of
 * its failure.
 */
const outputChars = 16_000;
const textChars = 8_000;

const separator = ' > ';
const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Returns the error that the test threw; the runner wraps it in an error of its own. */
const thrownIn = (error: Error): Error => (error.cause instanceof Error ? error.cause : error);

const placeIn = (stack: string, root: string): { file: string | null; line: number | null } => {
  const found = new RegExp(`${escapePattern(root)}/([^\\s):]+):(\\d+)`).exec(stack);
  return { file: found?.[1] ?? null, line: found?.[2] === undefined ? null : Number(found[2]) };
};

const failureOf = (given: unknown, root: string): Json => {
  const error = given instanceof Error ? thrownIn(given) : new Error(String(given));
  const stack = stripVTControlCharacters(error.stack ?? '');
  const message = stripVTControlCharacters(error.message);
  const values =
    'expected' in error && 'actual' in error
      ? { expected: textOf(error.expected), found: textOf(error.actual) }
      : {};
  return {
    message: message.slice(0, textChars),
    ...placeIn(stack, root),
    text: stack.slice(0, textChars),
    ...values,
  };
};

const textOf = (value: unknown): string => {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, textChars);
  } catch {
    return String(value).slice(0, textChars); // a value that is not JSON
  }
};

/**
 * Starts to record the process's output, which is still printed. Returns a function that returns the output since its
 * last call.
 */
const hearOutput = (): (() => string) => {
  let heard = '';
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream) as (...all: unknown[]) => boolean;
    stream.write = ((chunk: unknown, ...rest: unknown[]) => {
      if (typeof chunk === 'string') heard = (heard + chunk).slice(-outputChars);
      return write(chunk, ...rest);
    }) as typeof stream.write;
  }
  return () => {
    const taken = heard;
    heard = '';
    return taken;
  };
};

/** Makes a tree of tests by their ids, built from the runner's events. */
const createTree = () => {
  const known = new Map<number, { name: string; parentId: number; isTest: boolean }>();
  const within = (id: number): { name: string; isTest: boolean }[] => {
    const own = known.get(id);
    return own === undefined ? [] : [...within(own.parentId), own];
  };
  return {
    note({ data }: TestEvent) {
      const { testId, parentId, name, type } = data;
      known.set(testId, { name, parentId, isTest: type !== 'suite' });
    },
    nameOf: (id: number): string =>
      within(id)
        .map(({ name }) => name)
        .join(separator),
    /**
     * Returns the name of the outermost test that contains the test with an id, which may be the test itself; undefined
     * for a suite.
     */
    testOf(id: number): string | undefined {
      const all = within(id);
      const at = all.findIndex(({ isTest }) => isTest);
      return at === -1
        ? undefined
        : all
            .slice(0, at + 1)
            .map(({ name }) => name)
            .join(separator);
    },
  };
};

/** Runs the tests. `given.files` has the file to run, `given.skip` the ids of tests to skip. */
export const runTests = async (root: string, given: Json): Promise<Json> => {
  const [file = ''] = given.files as string[];
  const path = join(root, file);
  const skip = (given.skip as string[]).map((id) => id.slice(file.length + 2));
  const asking = currentRun();
  const report = (operation: string, facts: Json): Promise<unknown> => asking.ask(operation, facts);
  const takeOutput = hearOutput();
  const tree = createTree();
  const inner = new Map<string, Json>();
  const idOf = (name: string): string => `${file}::${name}`;
  const isFile = (name: string): boolean => name === path;
  let depth = 0;
  let beganAt = 0;

  await report('file', { file });
  const stream = run({
    files: [path],
    isolation: 'none',
    concurrency: false,
    cwd: root,
    testSkipPatterns: skip.map(
      (name) => new RegExp(`^${escapePattern(name.split(separator).join(' '))}$`),
    ),
  });
  beforeEach(async (context) => {
    depth += 1;
    const { fullName } = context as Context;
    if (depth > 1 || isFile(fullName)) return;
    beganAt = performance.now();
    takeOutput();
    await report('begin', { id: idOf(fullName) });
  });
  afterEach(async (context) => {
    depth -= 1;
    const { fullName, passed, error } = context as Context;
    if (depth > 0 || isFile(fullName)) return;
    const failure = error == null ? null : failureOf(error, root);
    await report('end', {
      id: idOf(fullName),
      outcome: passed === false || failure !== null ? 'failed' : 'passed',
      failure,
      output: takeOutput(),
      durationMs: performance.now() - beganAt,
    });
  });

  const hearEnd = async ({ data }: TestEvent): Promise<void> => {
    const name = tree.nameOf(data.testId);
    const test = tree.testOf(data.testId);
    const { error, passed } = data.details ?? {};
    const failure = error === undefined ? null : failureOf(error, root);
    if (isFile(data.name)) {
      if (passed === false) await report('broken', { file, failure });
    } else if (test === undefined) {
      if (passed === false && !/subtests? failed/.test(error?.message ?? '')) {
        await report('broken', { file, failure });
      }
    } else if (test !== name) {
      if (failure !== null && !inner.has(test)) inner.set(test, failure);
    } else if (data.skip) {
      if (!skip.includes(name)) await report('end', { id: idOf(name), outcome: 'skipped' });
    } else if (passed === false && !data.todo) {
      const why = inner.get(name) ?? failure;
      await report('end', { id: idOf(name), outcome: 'failed', failure: why });
    }
  };
  for await (const event of stream as unknown as AsyncIterable<TestEvent>) {
    if (event.type === 'test:enqueue') {
      tree.note(event);
      const { testId, type, line = null, name } = event.data;
      if (type === 'test' && tree.testOf(testId) === tree.nameOf(testId) && !isFile(name)) {
        const id = idOf(tree.nameOf(testId));
        if (!skip.includes(tree.nameOf(testId)))
          await report('collected', { tests: [{ id, file, line }] });
      }
    }
    if (event.type === 'test:complete') await hearEnd(event);
  }
  return { status: 0 };
};
