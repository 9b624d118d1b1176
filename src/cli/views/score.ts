/** Scores and score configs as a person reads them. */
import type { ScoreConfigView, ScoreView } from '#wire/public-api/score.ts';
import { cutLine, formatAgo, formatFields } from '../terminal/print.ts';
import { orNone } from './trace.ts';

const nameChars = 50;

const subjectOf = ({ traceId, observationId, sessionId, datasetRunId }: ScoreView): string => {
  if (observationId !== null) return `observation ${observationId}`;
  if (traceId !== null) return `trace ${traceId}`;
  return sessionId === null ? `run ${datasetRunId}` : `session ${sessionId}`;
};

const valueText = ({ value, stringValue }: ScoreView): string =>
  cutLine(String(stringValue ?? value ?? '-'), nameChars);

export const listScores = (scores: readonly ScoreView[]): string =>
  orNone(
    [
      ['SCORE', 'NAME', 'VALUE', 'OF', 'SOURCE', 'SCORED'],
      ...scores.map((score) => [
        ...[score.id, cutLine(score.name, nameChars), valueText(score)],
        ...[cutLine(subjectOf(score), nameChars), score.source.toLowerCase()],
        formatAgo(score.timestamp),
      ]),
    ],
    'no scores',
  );

export const describeScore = (score: ScoreView): string =>
  formatFields([
    ['score', score.id],
    ['name', score.name],
    ['value', valueText(score)],
    ['type', score.dataType.toLowerCase()],
    ['of', subjectOf(score)],
    ['source', score.source.toLowerCase()],
    ['comment', score.comment],
    ['config', score.configId],
    ['scored', score.timestamp],
  ]);

const rangeOf = ({ minValue, maxValue, categories }: ScoreConfigView): string | null => {
  if (categories !== null) return categories.map(({ label }) => label).join(', ');
  if (minValue === null && maxValue === null) return null;
  return `${minValue ?? '…'} to ${maxValue ?? '…'}`;
};

export const listConfigs = (configs: readonly ScoreConfigView[]): string =>
  orNone(
    [
      ['CONFIG', 'NAME', 'TYPE', 'VALUES', 'STATE'],
      ...configs.map((config) => [
        ...[config.id, config.name, config.dataType.toLowerCase()],
        ...[cutLine(rangeOf(config) ?? 'any', nameChars), config.isArchived ? 'archived' : 'open'],
      ]),
    ],
    'no score configs; "svc scores configs create" makes one',
  );

export const describeConfig = (config: ScoreConfigView): string =>
  formatFields([
    ['config', config.id],
    ['name', config.name],
    ['type', config.dataType.toLowerCase()],
    ['values', rangeOf(config)],
    ['state', config.isArchived ? 'archived' : 'open'],
    ['description', config.description],
  ]);
