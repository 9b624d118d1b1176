/** Formats scores and score configs for a person. */
import type { ScoreConfigView, ScoreView } from '#wire/public-api/observability/score.ts';
import type { View } from '../terminal/context.ts';
import { cutLine, formatAgo, formatFields } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

const subjectOf = ({ traceId, observationId, sessionId, datasetRunId }: ScoreView): string => {
  if (observationId !== null) return `observation ${observationId}`;
  if (traceId !== null) return `trace ${traceId}`;
  return sessionId === null ? `run ${datasetRunId}` : `session ${sessionId}`;
};

const valueText = ({ value, stringValue }: ScoreView): string => {
  const shown = typeof value === 'number' ? Number(value.toPrecision(6)) : value;
  return cutLine(String(stringValue ?? shown ?? '-'));
};

export const listScores = (scores: readonly ScoreView[], view: View): string =>
  formatFitted(
    ['SCORE', 'NAME', 'VALUE', 'OF', 'SOURCE', 'SCORED'],
    scores.map((score) => [
      ...[score.id, cutLine(score.name), valueText(score)],
      ...[cutLine(subjectOf(score)), score.source.toLowerCase()],
      formatAgo(score.timestamp),
    ]),
    view,
    { none: 'no scores', leftOut: ['SOURCE'], cut: ['VALUE', 'NAME'] },
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

export const listConfigs = (configs: readonly ScoreConfigView[], view: View): string =>
  formatFitted(
    ['CONFIG', 'NAME', 'TYPE', 'VALUES', 'STATE'],
    configs.map((config) => [
      ...[config.id, config.name, config.dataType.toLowerCase()],
      ...[cutLine(rangeOf(config) ?? 'any'), config.isArchived ? 'archived' : 'open'],
    ]),
    view,
    { none: 'no score configs; "svc scores configs create" makes one', cut: ['VALUES', 'NAME'] },
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
