/** Converts the body of a trace or an observation to the state that its event contributes. */
import { isObject } from '#domain/json.ts';
import { normalizeEnvironment } from './environment.ts';
import { type Level, levels, type ObservationType, observationTypes } from './object.ts';
import {
  type Body,
  Misfit,
  readBoolean,
  readId,
  readJson,
  readRecord,
  readText,
  readTexts,
  readTime,
  textLimits,
} from './read-value.ts';
import { type Rank, rankOf, ranksOf, type State, type Value } from './state.ts';
import { readCost, readUsage } from './usage.ts';

/** Facts about the event whose body is read. */
export type EventOrigin = {
  isUpdate: boolean;
  /** Time at which the client made the event, in microseconds since 1970. */
  timeUs: number;
  /** Index of the event in its batch. */
  position: number;
};

/**
 * Creates a collector of values that all get one rank. Null counts as absent in a create event, and clears the field in
 * an update event.
 */
const createValues = (rank: Rank, isUpdate: boolean) => {
  const values: Record<string, readonly [Rank, Value]> = {};
  const set = (field: string, value: Value | undefined): void => {
    if (value === undefined || (value === null && !isUpdate)) return;
    values[field] = [rank, value];
  };
  return { values, set };
};

/** Reads metadata; a value that is no object is stored as `{metadata: …}`. */
const readMetadata = ({ metadata }: Body, rank: Rank, isUpdate: boolean): State['metadata'] => {
  if (metadata === undefined || (metadata === null && !isUpdate)) return [];
  return [[rank, isObject(metadata) || metadata === null ? metadata : { metadata }]];
};

const readEnvironment = ({ environment }: Body): Value | undefined =>
  environment === undefined || environment === null ? undefined : normalizeEnvironment(environment);

const standingRank = ({ isUpdate, timeUs, position }: EventOrigin): Rank =>
  rankOf(isUpdate ? 'update' : 'create', timeUs, position);

/** Converts the body of a trace to a state. Throws `Misfit`. */
export const readTrace = (body: Body, origin: EventOrigin): State => {
  const rank = standingRank(origin);
  const { values, set } = createValues(rank, origin.isUpdate);
  set('name', readText(body, 'name', textLimits.name));
  set('userId', readText(body, 'userId', textLimits.name));
  set('sessionId', readText(body, 'sessionId', textLimits.name));
  set('environment', readEnvironment(body));
  set('release', readText(body, 'release', textLimits.name));
  set('version', readText(body, 'version', textLimits.name));
  set('externalId', readText(body, 'externalId', textLimits.name));
  set('public', readBoolean(body, 'public'));
  set('input', readJson(body, 'input'));
  set('output', readJson(body, 'output'));
  return {
    at: readTime(body, 'timestamp') ?? null,
    guessedAt: Math.floor(origin.timeUs / 1_000),
    values,
    tags: [...new Set(readTexts(body, 'tags'))].sort(),
    metadata: readMetadata(body, rank, origin.isUpdate),
  };
};

const readLevel = ({ level }: Body): Level | null | undefined => {
  if (level === undefined || level === null) return level;
  const known = levels.find((one) => one === level);
  if (known === undefined) throw new Misfit('level', `must be one of ${levels.join(', ')}`);
  return known;
};

const readPrompt = (body: Body): { promptName?: Value; promptVersion?: Value } => {
  const name = readText(body, 'promptName', textLimits.name);
  const { promptVersion } = body;
  if (name === null) return { promptName: null, promptVersion: null };
  // A prompt needs both name and version; one alone is ignored.
  if (typeof name !== 'string' || typeof promptVersion !== 'number') return {};
  if (!Number.isSafeInteger(promptVersion) || promptVersion < 0 || promptVersion > 2 ** 31 - 1) {
    throw new Misfit('promptVersion', 'must be a whole number');
  }
  return { promptName: name, promptVersion };
};

/**
 * Returns counts as JSON text. Returns null, which clears the field, if all members that could give them are null or
 * absent and at least one of them is null.
 */
const countsText = (
  counts: object | undefined,
  ...members: unknown[]
): string | null | undefined => {
  if (counts !== undefined) return JSON.stringify(counts);
  const isCleared = members.includes(null) && members.every((member) => (member ?? null) === null);
  return isCleared ? null : undefined;
};

/** Reads the type that legacy events give in their bodies. */
export const readType = ({ type }: Body): ObservationType => {
  const known = observationTypes.find((one) => one === type);
  if (known === undefined)
    throw new Misfit('type', `must be one of ${observationTypes.join(', ')}`);
  return known;
};

/** Converts the body of an observation of this type to a state. Throws `Misfit` if the body is invalid. */
export const readObservation = (body: Body, type: ObservationType, origin: EventOrigin): State => {
  const rankAs = ranksOf(origin.timeUs, origin.position);
  const rank = rankAs(origin.isUpdate ? 'update' : 'create');
  const { values, set } = createValues(rank, origin.isUpdate);
  set('name', readText(body, 'name', textLimits.name));
  set('parentId', readText(body, 'parentObservationId', textLimits.id));
  set('endTime', readTime(body, 'endTime'));
  set('completionStartTime', readTime(body, 'completionStartTime'));
  set('level', readLevel(body));
  set('statusMessage', readText(body, 'statusMessage'));
  set('version', readText(body, 'version', textLimits.name));
  set('environment', readEnvironment(body));
  set('model', readText(body, 'model', textLimits.name));
  set('modelParametersJson', readRecord(body, 'modelParameters'));
  set('usageJson', countsText(readUsage(body), body.usageDetails, body.usage));
  set('costJson', countsText(readCost(body), body.costDetails));
  const { promptName, promptVersion } = readPrompt(body);
  set('promptName', promptName);
  set('promptVersion', promptVersion);
  set('input', readJson(body, 'input'));
  set('output', readJson(body, 'output'));
  // Clients update agents and tools with span updates, so the type of the creating event wins.
  values.type = [rankAs(origin.isUpdate ? 'hint' : 'create'), type];
  return {
    at: readTime(body, 'startTime') ?? null,
    guessedAt: Math.floor(origin.timeUs / 1_000),
    values,
    tags: [],
    metadata: readMetadata(body, rank, origin.isUpdate),
  };
};

/** Reads the id of an observation and the id of its trace; an id is null if it is absent. */
export const readObservationIds = (body: Body): { id: string | null; traceId: string | null } => ({
  id: readId(body, 'id'),
  traceId: readId(body, 'traceId'),
});
