/**
 * Judges the checks of an `assertions` grader one by one. If a check names something that the world does not have, its
 * verdict is `unknown`, because that is the task's fault. A check may name another check by `before` or `after`. It
 * then counts only what happened before, or after, the rows of that other check came into being.
 */
import { ledgerEntity } from '#domain/ledger.ts';
import { type GivenCheck, isAnswerCheck, namesOfChecks } from '#language/checks.ts';
import { StoreRefusal } from '#store/refusal.ts';
import { CallFailure } from '../calls/answers/failure.ts';
import { judgeAnswer } from './answer-check.ts';
import type { CountedRows, ExplainingCheck } from './changes/explain.ts';
import { type CheckResult, verdictOf } from './check-result.ts';
import { countedRows, judgeRows, type TimeTest, timeOfRows } from './rows-check.ts';
import type { Sources } from './sources.ts';

/**
 * Returns a failed check if the ledger has dropped its oldest entries. A grader that read the ledger cannot pass then,
 * because the requests in those entries cannot be judged. Otherwise a session could send requests until the entry of a
 * forbidden request is dropped.
 */
export const wholeLedger = (missing: number): CheckResult[] => {
  if (missing === 0) return [];
  const check: CheckResult = {
    name: 'the request ledger is whole',
    ...verdictOf(false),
    expected: 'every request of the session',
    found: `${missing} of the first are no longer kept`,
    detail:
      'the session asked for more than its ledger keeps; what it asked first cannot be judged',
  };
  return [check];
};

/** Returns true if judging the check needs the request ledger. */
export const asksLedger = (check: GivenCheck): boolean =>
  check.before !== undefined ||
  check.after !== undefined ||
  (!isAnswerCheck(check) && check.entity === ledgerEntity);

const timeOf = async (check: GivenCheck, sources: Sources): Promise<number | undefined> =>
  isAnswerCheck(check) ? sources.times.ofAnswer() : timeOfRows(check, sources);

const orderWords = ['before', 'after'] as const;
type OrderWord = (typeof orderWords)[number];

const timeTest =
  (word: OrderWord, name: string, moment: number | undefined): TimeTest =>
  (time) => {
    if (moment === undefined) return `"${name}" did not happen, or the ledger does not say when`;
    const holds = word === 'before' ? time < moment : time > moment;
    return holds
      ? undefined
      : `it came ${time === moment ? 'with' : word === 'before' ? 'after' : 'before'} "${name}"`;
  };

type Judged = Omit<CheckResult, 'name' | 'weight'>;

/** Applies the tests of order (`before`, `after`) to a check of the answer, which happens at one moment. */
const judgeOrderOfAnswer = (
  judged: Judged,
  sources: Sources,
  tests: readonly TimeTest[],
): Judged => {
  const time = sources.times.ofAnswer();
  if (!judged.passed || time === undefined) return judged;
  const detail = tests.map((test) => test(time)).find((said) => said !== undefined);
  return detail === undefined ? judged : { ...judged, ...verdictOf(false), detail };
};

/**
 * Turns an error about something the world does not have into an `unknown` result, because it says nothing about the
 * agent. Throws any other error.
 */
const unknownFor = (error: unknown): Judged => {
  const isOurs = error instanceof CallFailure || error instanceof StoreRefusal;
  if (!isOurs) throw error;
  const detail = error instanceof CallFailure ? error.error.message : error.detail;
  return { verdict: 'unknown', passed: false, expected: null, found: null, detail };
};

/** Row counter for a check whose rows cannot be found. Such a check explains no changes. */
const noRows: CountedRows = { holds: () => false, count: 0 };

/**
 * Prepares the checks so that they can explain changes, under the names of their results. Call it while nothing changes
 * the rows.
 */
export const explainingChecks = async (
  checks: readonly GivenCheck[],
  results: readonly CheckResult[],
  sources: Sources,
): Promise<ExplainingCheck[]> => {
  const explaining: ExplainingCheck[] = [];
  for (const [index, check] of checks.entries()) {
    const isOfRows = !isAnswerCheck(check) && check.entity !== ledgerEntity;
    const isJudged = results[index]?.verdict !== 'unknown';
    const counted = isOfRows && isJudged ? await countedRows(check, sources) : undefined;
    explaining.push({
      ...check,
      name: results[index]?.name ?? '',
      counted: isJudged ? counted : noRows,
    });
  }
  return explaining;
};

/** Judges each check of a grader independently. Call it while nothing changes the rows. */
export const judgeChecks = async (
  checks: readonly GivenCheck[],
  sources: Sources,
): Promise<CheckResult[]> => {
  const names = namesOfChecks(checks);
  const moments = new Map<string, number | undefined>();
  const momentOf = async (name: string): Promise<number | undefined> => {
    if (!moments.has(name)) {
      const named = checks[names.indexOf(name)];
      moments.set(name, named === undefined ? undefined : await timeOf(named, sources));
    }
    return moments.get(name);
  };
  const judge = async (check: GivenCheck): Promise<Judged> => {
    const tests: TimeTest[] = [];
    const orderText: string[] = [];
    for (const word of orderWords) {
      const name = check[word];
      if (name === undefined) continue;
      tests.push(timeTest(word, name, await momentOf(name)));
      orderText.push(`${word} "${name}"`);
    }
    if (isAnswerCheck(check)) {
      return judgeOrderOfAnswer(judgeAnswer(check, sources), sources, tests);
    }
    return judgeRows(check, sources, tests, orderText);
  };
  const results: CheckResult[] = [];
  for (const [index, check] of checks.entries()) {
    await sources.pause();
    const { weight } = check;
    const head = { name: names[index] as string, ...(weight === undefined ? {} : { weight }) };
    const judged = await judge(check).catch(unknownFor);
    results.push({ ...head, ...judged });
  }
  return results;
};
