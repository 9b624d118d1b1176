/** A check of the agent's answer: JSON that is equal, a number that is near enough, or the same set of items. */
import { isDeepStrictEqual } from 'node:util';
import { clip } from '#domain/cut.ts';
import type { GivenCheck } from '#language/checks.ts';
import { type CheckResult, verdictOf } from './check-result.ts';
import type { Sources } from './sources.ts';

type GivenAnswerCheck = Extract<GivenCheck, { kind: 'answer' }>;

const longestShown = 200;
const show = (value: unknown): string => clip(JSON.stringify(value) ?? 'null', longestShown);

const hasEach = (list: readonly unknown[], items: readonly unknown[]): boolean =>
  items.every((item) => list.some((one) => isDeepStrictEqual(one, item)));

const isRight = (answer: unknown, { equals, as, tolerance }: GivenAnswerCheck): boolean => {
  if (as === 'set') {
    if (!Array.isArray(answer) || !Array.isArray(equals)) return false;
    return hasEach(answer, equals) && hasEach(equals, answer);
  }
  if (tolerance !== undefined && typeof equals === 'number') {
    return typeof answer === 'number' && Math.abs(answer - equals) <= tolerance;
  }
  return isDeepStrictEqual(answer, equals);
};

const wantedText = ({ equals, as, tolerance }: GivenAnswerCheck): string => {
  if (as === 'set') return `the items of ${show(equals)}, in any order`;
  return tolerance === undefined ? show(equals) : `${show(equals)}, give or take ${tolerance}`;
};

/** Judges what the agent answered last. No answer is a fail. */
export const judgeAnswer = (
  check: GivenAnswerCheck,
  { answer }: Pick<Sources, 'answer'>,
): Omit<CheckResult, 'name' | 'weight'> => ({
  ...verdictOf(answer !== null && isRight(answer.value, check)),
  expected: `the answer ${wantedText(check)}`,
  found: answer === null ? 'no answer' : `the answer ${show(answer.value)}`,
  detail: null,
});
