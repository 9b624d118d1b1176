/** Converts a grade to scores in the trace of the graded session, and to the session's outcome. Has no side effects. */

import { checkScore } from '#observability/check-score.ts';
import { usualEnvironment } from '#observability/environment.ts';
import { cleanText } from '#observability/read-value.ts';
import type { GivenScore } from '#observability/score.ts';
import type { GradeSummary } from '../../base/contracts/grade-summary.ts';
import type { ScoreWrite } from '../../db/observability/scores.ts';
import type { TracedSession } from '../../db/observability/session-traces.ts';
import type { Report } from '../ingestion/fold.ts';
import { reportOutcome } from './session-span.ts';
import { nameOf } from './states.ts';

export type GradedCall = { callId: string; answeredMs: number; grade: GradeSummary };

/** Returns the common prefix of the ids of a session's grade scores. */
export const scorePrefixOf = (sessionId: string): string => `${sessionId}:`;

type Value = {
  /** Distinguishes the score from the other scores of the session. */
  key: string;
  name: string;
  value: boolean | number;
  comment?: string | null;
  metadata?: Record<string, unknown>;
};

const isVerdict = (verdict: unknown): verdict is 'pass' | 'fail' =>
  verdict === 'pass' || verdict === 'fail';

/** Returns one score for each check that has a verdict. Checks with the same name get different keys. */
const checkValues = ({ checks }: GradeSummary): Value[] =>
  checks.flatMap(({ name, verdict, weight, detail }, index): Value[] => {
    if (!isVerdict(verdict)) return [];
    const same = checks.findIndex((other) => other.name === name) === index ? '' : `:${index + 1}`;
    return [
      {
        key: `check:${name}${same}`,
        name: nameOf(`check: ${name}`),
        value: verdict === 'pass',
        comment: detail,
        ...(weight === null ? {} : { metadata: { weight } }),
      },
    ];
  });

const valuesOf = (grade: GradeSummary): Value[] => {
  const { verdict, score, checks, checkCount } = grade;
  // A grade without a verdict counts neither as passed nor as failed.
  if (!isVerdict(verdict)) return checkValues(grade);
  const left = checkCount - checks.length;
  const more = left === 0 ? {} : { metadata: { checksLeftOut: left } };
  return [
    { key: 'passed', name: 'passed', value: verdict === 'pass', ...more },
    ...(score === null ? [] : [{ key: 'score', name: 'score', value: score }]),
    ...checkValues(grade),
  ];
};

/**
 * Returns the scores of a grade. A score has the same id as the score with the same key in the previous grade, and so
 * replaces it.
 */
export const scoresOf = (
  session: TracedSession,
  { callId, answeredMs, grade }: GradedCall,
): ScoreWrite[] =>
  valuesOf(grade).map(({ key, name, value, comment = null, metadata = {} }) => {
    const given: GivenScore = {
      ...{ id: null, name, value, traceId: session.traceId, sessionId: null, datasetRunId: null },
      ...{ observationId: null, configId: null, queueId: null, source: 'EVAL' },
      dataType: typeof value === 'boolean' ? 'BOOLEAN' : 'NUMERIC',
      comment: comment === null ? null : cleanText(comment),
      metadataJson: JSON.stringify({ worldSessionId: session.id, callId, ...metadata }),
      environment: usualEnvironment,
      timestamp: answeredMs,
    };
    return {
      id: cleanText(`${scorePrefixOf(session.id)}${key}`),
      reportedAt: answeredMs * 1_000,
      scoredAt: answeredMs,
      score: checkScore(given, undefined),
    };
  });

/** Returns the outcome of a grade as JSON text; it contains no user data. */
export const outcomeOf = ({ grade: { verdict, score } }: GradedCall): string =>
  JSON.stringify({ verdict, passed: verdict === 'pass', score });

/** Reports the outcome of a session. */
export const reportGrade = (session: TracedSession, graded: GradedCall): Report[] =>
  reportOutcome(session, outcomeOf(graded), graded.answeredMs);
