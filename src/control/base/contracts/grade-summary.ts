/** Summarizes the output of a grade call for its scores, without the rows that changed. Pure functions only. */
import { isObject } from '#domain/json.ts';

export type CheckSummary = {
  name: string;
  verdict: string;
  /** Weight of the check; null for the default weight. */
  weight: number | null;
  detail: string | null;
};

export type GradeSummary = {
  verdict: string;
  /** Score between 0 and 1; null if the verdict is unknown. */
  score: number | null;
  /** First checks of the grade, up to a limit; `checkCount` is the number of all checks. */
  checks: CheckSummary[];
  checkCount: number;
};

/**
 * Limits on the checks of a grade that are kept: the number of checks, and the lengths of their texts in characters.
 */
const mostChecks = 200;
const mostNameChars = 500;
const mostDetailChars = 2_000;

const textOf = (value: unknown, most: number): string | null =>
  typeof value === 'string' ? value.slice(0, most) : null;

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);

const checkOf = (value: unknown): CheckSummary[] => {
  if (!isObject(value)) return [];
  const { name, verdict, weight, detail } = value as Record<string, unknown>;
  if (typeof name !== 'string' || name === '' || typeof verdict !== 'string') return [];
  return [
    {
      ...{ name: name.slice(0, mostNameChars), verdict, weight: numberOf(weight) },
      detail: textOf(detail, mostDetailChars),
    },
  ];
};

/** Summarizes the output of a host. Returns undefined if the output is no grade. */
export const summarizeGrade = (outputJson: string): GradeSummary | undefined => {
  const output: unknown = JSON.parse(outputJson);
  if (!isObject(output)) return undefined;
  const { verdict, score, checks } = output as Record<string, unknown>;
  if (typeof verdict !== 'string') return undefined;
  const list = Array.isArray(checks) ? checks : [];
  return {
    ...{ verdict, score: numberOf(score), checkCount: list.length },
    checks: list.slice(0, mostChecks).flatMap(checkOf),
  };
};
