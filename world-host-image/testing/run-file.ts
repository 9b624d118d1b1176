/**
 * Runs the tests of one file, in a process of its own that can read only the world's files. If a test ends the process,
 * or exceeds its time, that is reported, and the remaining tests run in another process.
 */
import { isObject, own } from '#domain/json.ts';
import type { Row } from '#language/contract.ts';
import type { RunResult, TraceFrame, UserLanguage } from '../usercode/run.ts';
import type { Grader } from '../usercode/runner.ts';
import type { TestFailure, TestOutcome, TestResult } from './report.ts';
import type { Stage } from './stage.ts';

export type TestLimits = {
  /** Time limit of one test, in milliseconds. */
  testMs: number;
  /**
   * Time limit for everything before, between and after tests, in milliseconds: starting a process, importing a file.
   */
  loadMs: number;
  /** Time limit of all tests together, in milliseconds. */
  suiteMs: number;
};

export type FileRun = {
  file: string;
  language: UserLanguage;
  stage: Stage;
  limits: TestLimits;
  /** Time at which the time limit of all tests is reached, in milliseconds of `performance.now()`. */
  endsAt: number;
  /** Starts a process for tests, without waiting for it. */
  openTester(): Pick<Grader, 'run' | 'end'>;
};

/** Maximum number of processes that are started for one file. */
const mostProcesses = 10;
/** Maximum number of tests in one file. */
const mostTests = 2_000;
const most = { name: 500, text: 16_000 };

const textOf = (value: unknown, chars: number): string =>
  typeof value === 'string' ? value.slice(0, chars) : '';
const wholeOf = (value: unknown): number | null =>
  Number.isSafeInteger(value) ? (value as number) : null;

const readFailure = (given: unknown): TestFailure | null => {
  if (!isObject(given)) return null;
  const { message, file, line, text, expected, found } = given;
  const values = typeof expected === 'string' ? `\nexpected: ${expected}\nfound: ${found}` : '';
  return {
    message: textOf(message, most.text),
    file: typeof file === 'string' ? file.slice(0, most.name) : null,
    line: wholeOf(line),
    text: textOf(`${text ?? ''}${values}`, most.text),
  };
};

const ends: Readonly<Record<string, TestOutcome>> = {
  out_of_memory: 'out_of_memory',
  too_much_output: 'too_much_output',
  timeout: 'timed_out',
};

/** Makes the record of a file's tests and their outcomes. */
const createBook = (file: string) => {
  const tests = new Map<string, TestResult & { isOver: boolean }>();
  const add = (id: unknown, line: unknown): TestResult & { isOver: boolean } => {
    const name = textOf(id, most.name);
    const known = tests.get(name);
    if (known !== undefined) {
      known.line ??= wholeOf(line);
      return known;
    }
    const added = {
      name,
      file,
      line: wholeOf(line),
      outcome: 'not_run' as TestOutcome,
      durationMs: 0,
      output: '',
      failure: null,
      isOver: false,
    };
    if (tests.size < mostTests) tests.set(name, added);
    return added;
  };
  return {
    add,
    over: () => [...tests.values()].filter(({ isOver }) => isOver),
    open: () => [...tests.values()].filter(({ isOver }) => !isOver),
    results: (): TestResult[] => [...tests.values()].map(({ isOver: _, ...test }) => test),
  };
};

type Book = ReturnType<typeof createBook>;

const note = (book: Book, given: Row): void => {
  const test = book.add(given.id, null);
  const { outcome } = given;
  // Two tests of the same name are reported as one, which passes if both do.
  if (test.isOver && test.outcome !== 'passed' && outcome === 'passed') return;
  test.outcome = outcome === 'passed' || outcome === 'skipped' ? outcome : 'failed';
  test.failure = readFailure(given.failure) ?? test.failure;
  test.output = textOf(given.output, most.text) || test.output;
  if (typeof given.durationMs === 'number') test.durationMs = given.durationMs;
  test.isOver = true;
};

/** End of one process. `late` describes the time limit that was exceeded; `current` is the test that was running. */
type Ended = { result: RunResult; late: string | undefined; current: string | undefined };

const inSeconds = (ms: number): string => `${ms / 1_000} s`;

/** Describes the time limit that a test exceeded, or that was exceeded between tests. */
const describeLimit = (
  mostMs: number,
  leftMs: number,
  current: string | undefined,
  { suiteMs }: TestLimits,
): string => {
  if (leftMs < mostMs) return `the ${inSeconds(suiteMs)} of all tests were over`;
  return current === undefined
    ? `it was not imported, or did not go on, in ${inSeconds(mostMs)}`
    : `it was not over after ${inSeconds(mostMs)}`;
};

/** Returns the stack of a stopped process, the innermost frame last; empty if its language cannot report it. */
const framesOf = (result: RunResult): TraceFrame[] => {
  const details = result.ok ? undefined : result.error.details;
  const trace = isObject(details) ? details.trace : undefined;
  return Array.isArray(trace) ? (trace as TraceFrame[]) : [];
};

const describeFrame = ({ file, line, function: name }: TraceFrame): string =>
  `${file}:${line} in ${name}`;

const runProcess = async (run: FileRun, book: Book): Promise<Ended> => {
  const { file, language, limits, stage, endsAt } = run;
  const tester = run.openTester();
  let current: string | undefined;
  let late: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  const timeOver = new AbortController();
  const watch = (mostMs: number): void => {
    clearTimeout(timer);
    const leftMs = Math.max(endsAt - performance.now(), 1);
    timer = setTimeout(
      () => {
        late = describeLimit(mostMs, leftMs, current, limits);
        timeOver.abort();
      },
      Math.min(mostMs, leftMs),
    );
  };
  /**
   * Proves a task at the request of a test. A proof has a time limit of its own, so the time that the test waits for it
   * does not count for the test.
   */
  const prove = async (given: Row): Promise<unknown> => {
    watch(limits.suiteMs);
    try {
      return await stage.answer('prove', given);
    } finally {
      watch(limits.testMs);
    }
  };
  const answer = async (operation: string, given: Row): Promise<unknown> => {
    switch (operation) {
      case 'file':
        return null;
      case 'collected': {
        const list = Array.isArray(given.tests) ? given.tests.filter(isObject) : [];
        for (const { id, line } of list) book.add(id, line);
        return null;
      }
      case 'begin':
        watch(limits.testMs);
        current = book.add(given.id, null).name;
        await stage.reset();
        return null;
      case 'end':
        if (current === given.id) {
          current = undefined;
          watch(limits.loadMs);
        }
        note(book, given);
        return null;
      case 'broken': {
        const broken = book.add(file, null);
        broken.outcome = 'error';
        broken.failure = readFailure(given.failure);
        broken.isOver = true;
        return null;
      }
      case 'prove':
        return prove(given);
      default:
        return stage.answer(operation, given);
    }
  };
  watch(limits.loadMs);
  try {
    const result = await tester.run({
      language,
      file,
      function: 'tests',
      as: 'tests',
      input: { files: [file], skip: book.over().map(({ name }) => name) },
      access: stage.access,
      answer,
      timeoutMs: Math.max(endsAt - performance.now(), 1) + limits.testMs,
      timeOver: timeOver.signal,
    });
    return { result, late, current };
  } finally {
    clearTimeout(timer);
    await tester.end();
  }
};

const endOf = ({ result, late }: Ended): [TestOutcome, string] => {
  if (late !== undefined) {
    const at = framesOf(result).at(-1);
    const place = at === undefined ? '' : ` at ${describeFrame(at)}`;
    return ['timed_out', `${late}; it was stopped${place}`];
  }
  if (result.ok) return ['crashed', 'its process ended in the middle of it'];
  return [own(ends, result.error.code) ?? 'crashed', result.error.message];
};

/**
 * Records how a process ended, during a test or before the first test. Returns false if starting another process would
 * not help.
 */
const noteEnd = (book: Book, ended: Ended, { file, limits }: FileRun): boolean => {
  const { current, late, result } = ended;
  const [outcome, said] = endOf(ended);
  const frames = late === undefined ? [] : framesOf(result);
  const place = { file, line: null as number | null, ...placeOf(frames) };
  const output = result.ok ? '' : textOf(detailOf(result.error.details), most.text);
  const text = textOf([...frames.map(describeFrame), output].join('\n'), most.text);
  const failure = { message: `${current ?? file}: ${said}`, ...place, text };
  if (current === undefined) {
    const isOpen = book.open().length > 0;
    if (!isOpen || book.over().length === 0) {
      Object.assign(book.add(file, null), { outcome, failure, isOver: true });
      return false;
    }
  }
  const test = current === undefined ? book.open()[0] : book.add(current, null);
  if (test === undefined) return false;
  Object.assign(test, {
    outcome,
    failure: { ...failure, line: failure.line ?? test.line },
    durationMs: late === undefined ? 0 : limits.testMs,
    isOver: true,
  });
  return true;
};

/** Returns the file and line of the innermost frame, as the place of a failure. */
const placeOf = (frames: readonly TraceFrame[]): { file?: string; line?: number } => {
  const at = frames.at(-1);
  return at === undefined ? {} : { file: at.file, line: at.line };
};

const detailOf = (details: unknown): unknown =>
  isObject(details) ? (details as { output?: unknown }).output : undefined;

const missing = (result: RunResult): boolean =>
  result.ok && isObject(result.value) && 'missing' in result.value;

export type FileTests = { tests: TestResult[]; lacksRunner: boolean };

/** Runs all tests of the file. */
export const runFile = async (run: FileRun): Promise<FileTests> => {
  const book = createBook(run.file);
  for (let process = 1; process <= mostProcesses; process += 1) {
    if (performance.now() >= run.endsAt) break;
    const ended = await runProcess(run, book);
    if (missing(ended.result)) return { tests: [], lacksRunner: true };
    if (ended.result.ok && ended.late === undefined && ended.current === undefined) break;
    if (!noteEnd(book, ended, run)) break;
    // Node reports the tests of a file while they run, so a test that blocks its process hides the later ones.
    if (run.language === 'python' && book.open().length === 0) break;
  }
  if (book.results().length === 0 && performance.now() >= run.endsAt) book.add(run.file, null);
  return { tests: book.results(), lacksRunner: false };
};
