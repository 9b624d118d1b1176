/** Judges a check of the agent's answer: equal JSON, a number within a tolerance, or the same set of items. */
import { clip } from '#domain/cut.ts';
import { isObject } from '#domain/json.ts';
import type { GivenCheck } from '#language/checks.ts';
import { type CheckResult, verdictOf } from './check-result.ts';
import type { Sources } from './sources.ts';

type GivenAnswerCheck = Extract<GivenCheck, { kind: 'answer' }>;

const longestShown = 200;
const show = (value: unknown): string => clip(JSON.stringify(value) ?? 'null', longestShown);

/**
 * Encodes a value as one text that does not depend on the order of members, so that sets of values are compared in
 * linear time.
 */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    isObject(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

const isSameSet = (one: readonly unknown[], other: readonly unknown[]): boolean => {
  const [ones, others] = [new Set(one.map(canonical)), new Set(other.map(canonical))];
  return ones.size === others.size && [...ones].every((item) => others.has(item));
};

/** Converts an answer like `"23"` to the number 23, so that numbers may be given as text. */
const toNumber = (answer: unknown): unknown => {
  const isNumeral =
    typeof answer === 'string' && /^\s*-?\d+(\.\d+)?([eE][+-]?\d+)?\s*$/.test(answer);
  return isNumeral ? Number(answer) : answer;
};

const isRight = (given: unknown, { equals, as, tolerance }: GivenAnswerCheck): boolean => {
  const answer = typeof equals === 'number' ? toNumber(given) : given;
  if (as === 'set') {
    if (!Array.isArray(answer) || !Array.isArray(equals)) return false;
    return isSameSet(answer, equals);
  }
  if (tolerance !== undefined && typeof equals === 'number') {
    return typeof answer === 'number' && Math.abs(answer - equals) <= tolerance;
  }
  return canonical(answer) === canonical(equals);
};

const wantedText = ({ equals, as, tolerance }: GivenAnswerCheck): string => {
  if (as === 'set') return `the items of ${show(equals)}, in any order`;
  return tolerance === undefined ? show(equals) : `${show(equals)}, give or take ${tolerance}`;
};

/** Judges the agent's last answer. A missing answer fails. */
export const judgeAnswer = (
  check: GivenAnswerCheck,
  { answer }: Pick<Sources, 'answer'>,
): Omit<CheckResult, 'name' | 'weight'> => ({
  ...verdictOf(answer !== null && isRight(answer.value, check)),
  expected: `the answer ${wantedText(check)}`,
  found: answer === null ? 'no answer' : `the answer ${show(answer.value)}`,
  detail: null,
});
