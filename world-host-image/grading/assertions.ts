/**
 * The checks of a grader of the kind `assertions`, judged one by one. A check that asks for what the world does not have
 * is `unknown`: that is the task's fault. One that names another by `before` or `after` holds for what came before, or
 * after, the moment when that one's rows came to be.
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
 * What a grader is told that read a ledger whose first entries made room for later ones: what was asked
 * then cannot be told, so nothing about it passes. Else a session could ask until a request is forgotten.
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

/** Whether a check is judged by the request ledger. */
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

/** An answer is one moment; what its order asks is asked of that. */
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

/** A task that asks for what is not there says nothing about the agent. */
const unknownFor = (error: unknown): Judged => {
  const isOurs = error instanceof CallFailure || error instanceof StoreRefusal;
  if (!isOurs) throw error;
  const detail = error instanceof CallFailure ? error.error.message : error.detail;
  return { verdict: 'unknown', passed: false, expected: null, found: null, detail };
};

/** What a check whose rows cannot be found explains. */
const noRows: CountedRows = { holds: () => false, count: 0 };

/** The checks as they explain changes, named as their results are. To be called while nothing changes the rows. */
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

/** Judges the checks of a grader, each by itself. To be called while nothing changes the rows. */
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
