/** Reads the body of a score, which is sent in an event or in a request of its own. */
import { isObject } from '#domain/json.ts';
import { normalizeEnvironment } from './environment.ts';
import { type Body, Misfit, readId, readText, readTime, textLimits } from './read-value.ts';
import {
  type GivenScore,
  type ScoreSource,
  type ScoreType,
  scoreSources,
  scoreTypes,
} from './score.ts';

const readWord = <Word extends string>(
  body: Body,
  name: string,
  words: readonly Word[],
): Word | null => {
  const value = body[name];
  if (value === undefined || value === null) return null;
  const word = words.find((known) => known === value);
  if (word === undefined) throw new Misfit(name, `must be one of ${words.join(', ')}`);
  return word;
};

const readValue = ({ value }: Body): GivenScore['value'] => {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean') {
    return value;
  }
  throw new Misfit('value', 'must be a number, a string or a boolean');
};

const readTarget = (body: Body): Pick<GivenScore, 'traceId' | 'sessionId' | 'datasetRunId'> => {
  const target = {
    traceId: readId(body, 'traceId'),
    sessionId: readId(body, 'sessionId'),
    datasetRunId: readId(body, 'datasetRunId'),
  };
  const given = Object.values(target).filter((id) => id !== null);
  if (given.length === 1) return target;
  throw new Misfit(
    'traceId',
    'a score is of exactly one of traceId, sessionId and datasetRunId; ' +
      (given.length === 0 ? 'none is given' : `${given.length} are given`),
  );
};

const readMetadata = ({ metadata }: Body): string => {
  if (metadata === undefined || metadata === null) return '{}';
  return JSON.stringify(isObject(metadata) ? metadata : { metadata });
};

/** Reads the body of a score. Throws `Misfit` if it is invalid. */
export const readScore = (body: Body): GivenScore => {
  const name = readText(body, 'name', textLimits.name);
  if (name === undefined || name === null || name === '') {
    throw new Misfit('name', 'must be a string that is not empty');
  }
  const target = readTarget(body);
  const observationId = readId(body, 'observationId');
  if (observationId !== null && target.traceId === null) {
    throw new Misfit('observationId', 'needs the traceId of its trace');
  }
  return {
    id: readId(body, 'id'),
    name,
    ...target,
    observationId,
    value: readValue(body),
    dataType: readWord<ScoreType>(body, 'dataType', scoreTypes),
    configId: readId(body, 'configId'),
    queueId: readId(body, 'queueId'),
    source: readWord<ScoreSource>(body, 'source', scoreSources) ?? 'API',
    comment: readText(body, 'comment') ?? null,
    metadataJson: readMetadata(body),
    environment: normalizeEnvironment(body.environment),
    timestamp: readTime(body, 'timestamp') ?? null,
  };
};
