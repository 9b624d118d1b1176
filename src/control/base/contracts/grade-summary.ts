/** What scores are made of: the answer of a grade without the rows that changed. Pure. */
import { isObject } from '#domain/json.ts';

export type CheckSummary = {
  name: string;
  verdict: string;
  /** Null: as much as any other. */
  weight: number | null;
  detail: string | null;
};

export type GradeSummary = {
  verdict: string;
  /** Null where the verdict is unknown. */
  score: number | null;
  /** The first of them. */
  checks: CheckSummary[];
  checkCount: number;
};

/** Checks of a grade that are told, and characters of their texts. */
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

/** Summarizes what a host answered; undefined for what is no grade. */
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
