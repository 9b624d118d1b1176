/** Reads the body of a trace or an observation to what it says: a state of one event. */
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

/** What is known of the event itself. */
export type Saying = {
  isUpdate: boolean;
  /** When the event was made, in microseconds since 1970. */
  timeUs: number;
  /** Its place in its batch. */
  position: number;
};

type Given = Readonly<Record<string, Value | undefined>>;

/** The values with their rank. Null is absent in a create and clears in an update. */
const rankValues = (given: Given, rank: Rank, isUpdate: boolean): State['values'] => {
  const values: Record<string, readonly [Rank, Value]> = {};
  for (const field in given) {
    const value = given[field];
    if (value === undefined || (value === null && !isUpdate)) continue;
    values[field] = [rank, value];
  }
  return values;
};

/** Metadata that is no object stands under a name of its own. */
const readMetadata = ({ metadata }: Body, rank: Rank, isUpdate: boolean): State['metadata'] => {
  if (metadata === undefined || (metadata === null && !isUpdate)) return [];
  return [[rank, isObject(metadata) || metadata === null ? metadata : { metadata }]];
};

const readEnvironment = ({ environment }: Body): Value | undefined =>
  environment === undefined || environment === null ? undefined : normalizeEnvironment(environment);

const standingRank = ({ isUpdate, timeUs, position }: Saying): Rank =>
  rankOf(isUpdate ? 'update' : 'create', timeUs, position);

/** What a body says of a trace. Throws `Misfit`. */
export const readTrace = (body: Body, saying: Saying): State => {
  const rank = standingRank(saying);
  const given: Given = {
    name: readText(body, 'name', textLimits.name),
    userId: readText(body, 'userId', textLimits.name),
    sessionId: readText(body, 'sessionId', textLimits.name),
    environment: readEnvironment(body),
    release: readText(body, 'release', textLimits.name),
    version: readText(body, 'version', textLimits.name),
    externalId: readText(body, 'externalId', textLimits.name),
    public: readBoolean(body, 'public'),
    input: readJson(body, 'input'),
    output: readJson(body, 'output'),
  };
  return {
    at: readTime(body, 'timestamp') ?? null,
    guessedAt: Math.floor(saying.timeUs / 1_000),
    values: rankValues(given, rank, saying.isUpdate),
    tags: [...new Set(readTexts(body, 'tags'))].sort(),
    metadata: readMetadata(body, rank, saying.isUpdate),
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
  // A prompt is named by both; one alone says nothing.
  if (typeof name !== 'string' || typeof promptVersion !== 'number') return {};
  if (!Number.isSafeInteger(promptVersion) || promptVersion < 0 || promptVersion > 2 ** 31 - 1) {
    throw new Misfit('promptVersion', 'must be a whole number');
  }
  return { promptName: name, promptVersion };
};

/** What counts say, as text; null where members that could say so are null instead. */
const countsText = (
  counts: object | undefined,
  ...members: unknown[]
): string | null | undefined => {
  if (counts !== undefined) return JSON.stringify(counts);
  const isCleared = members.includes(null) && members.every((member) => (member ?? null) === null);
  return isCleared ? null : undefined;
};

/** The type that legacy events give in their bodies. */
export const readType = ({ type }: Body): ObservationType => {
  const known = observationTypes.find((one) => one === type);
  if (known === undefined)
    throw new Misfit('type', `must be one of ${observationTypes.join(', ')}`);
  return known;
};

/** What a body says of an observation of a type. Throws `Misfit`. */
export const readObservation = (body: Body, type: ObservationType, saying: Saying): State => {
  const rankAs = ranksOf(saying.timeUs, saying.position);
  const rank = rankAs(saying.isUpdate ? 'update' : 'create');
  const given: Given = {
    name: readText(body, 'name', textLimits.name),
    parentId: readText(body, 'parentObservationId', textLimits.id),
    endTime: readTime(body, 'endTime'),
    completionStartTime: readTime(body, 'completionStartTime'),
    level: readLevel(body),
    statusMessage: readText(body, 'statusMessage'),
    version: readText(body, 'version', textLimits.name),
    environment: readEnvironment(body),
    model: readText(body, 'model', textLimits.name),
    modelParametersJson: readRecord(body, 'modelParameters'),
    usageJson: countsText(readUsage(body), body.usageDetails, body.usage),
    costJson: countsText(readCost(body), body.costDetails),
    ...readPrompt(body),
    input: readJson(body, 'input'),
    output: readJson(body, 'output'),
  };
  // Clients update agents and tools as spans: whoever made it knows its type better.
  const ofType = rankAs(saying.isUpdate ? 'hint' : 'create');
  return {
    at: readTime(body, 'startTime') ?? null,
    guessedAt: Math.floor(saying.timeUs / 1_000),
    values: { ...rankValues(given, rank, saying.isUpdate), type: [ofType, type] },
    tags: [],
    metadata: readMetadata(body, rank, saying.isUpdate),
  };
};

/** The ids of an observation. */
export const readObservationIds = (body: Body): { id: string | null; traceId: string | null } => ({
  id: readId(body, 'id'),
  traceId: readId(body, 'traceId'),
});
