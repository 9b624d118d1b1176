/** Validates a score against its type and its score config, and computes the values to store. Throws `Misfit`. */
import { Misfit, numberProblem } from './read-value.ts';
import type { GivenScore, Score, ScoreConfig, ScoreType } from './score.ts';

const mostTextChars = 500;
const mostCorrectionChars = 100_000;

const typeOf = ({ value, dataType }: GivenScore, config: ScoreConfig | undefined): ScoreType => {
  if (config !== undefined && dataType !== null && dataType !== config.dataType) {
    throw new Misfit(
      'dataType',
      `is ${dataType}; its config "${config.name}" has ${config.dataType}`,
    );
  }
  const known = dataType ?? config?.dataType;
  if (known !== undefined) return known;
  if (typeof value === 'boolean') return 'BOOLEAN';
  return typeof value === 'number' ? 'NUMERIC' : 'CATEGORICAL';
};

const textOf = (value: GivenScore['value'], type: ScoreType, most: number): string => {
  if (typeof value !== 'string') throw new Misfit('value', `of a ${type} score must be a string`);
  if (value === '' || value.length > most) {
    throw new Misfit('value', `of a ${type} score must have 1 to ${most} characters`);
  }
  return value.toWellFormed().replaceAll('\0', '\ufffd');
};

type Values = Pick<Score, 'value' | 'stringValue'>;

const numeric = (value: GivenScore['value'], config: ScoreConfig | undefined): Values => {
  if (typeof value !== 'number') throw new Misfit('value', 'of a NUMERIC score must be a number');
  const problem = numberProblem(value);
  if (problem !== undefined) throw new Misfit('value', problem);
  const { minValue = null, maxValue = null } = config ?? {};
  if (minValue !== null && value < minValue) {
    throw new Misfit('value', `${value} is below the minimum of its config, ${minValue}`);
  }
  if (maxValue !== null && value > maxValue) {
    throw new Misfit('value', `${value} is above the maximum of its config, ${maxValue}`);
  }
  return { value, stringValue: null };
};

const boolean = (value: GivenScore['value']): Values => {
  const number = typeof value === 'boolean' ? Number(value) : value;
  if (number !== 0 && number !== 1) {
    throw new Misfit('value', 'of a BOOLEAN score must be 0 or 1');
  }
  return { value: number, stringValue: number === 1 ? 'True' : 'False' };
};

const categorical = (value: GivenScore['value'], config: ScoreConfig | undefined): Values => {
  const label = textOf(value, 'CATEGORICAL', mostTextChars);
  if (config === undefined) return { value: 0, stringValue: label };
  const category = config.categories?.find((one) => one.label === label);
  if (category === undefined) {
    const known = (config.categories ?? []).map((one) => one.label).join(', ');
    throw new Misfit('value', `${JSON.stringify(label)} is no category of its config: ${known}`);
  }
  return { value: category.value, stringValue: label };
};

const valuesOf = (
  type: ScoreType,
  value: GivenScore['value'],
  config: ScoreConfig | undefined,
): Values => {
  switch (type) {
    case 'NUMERIC':
      return numeric(value, config);
    case 'BOOLEAN':
      return boolean(value);
    case 'CATEGORICAL':
      return categorical(value, config);
    case 'TEXT':
      return { value: null, stringValue: textOf(value, type, mostTextChars) };
    case 'CORRECTION':
      return { value: null, stringValue: textOf(value, type, mostCorrectionChars) };
  }
};

const checkConfig = (given: GivenScore, config: ScoreConfig | undefined): void => {
  const { configId } = given;
  if (configId === null) return;
  if (config === undefined) {
    throw new Misfit('configId', `there is no score config ${JSON.stringify(configId)}`);
  }
  if (config.isArchived)
    throw new Misfit('configId', `the score config "${config.name}" is archived`);
};

/**
 * Returns the score to store. `config` is the score config that `configId` names; undefined if the score names none.
 * Throws `Misfit`.
 */
export const checkScore = (given: GivenScore, config: ScoreConfig | undefined): Score => {
  checkConfig(given, config);
  const { id: _, value, ...rest } = given;
  const dataType = typeOf(given, config);
  if (dataType !== 'CORRECTION') {
    if (given.source === 'ANNOTATION' && config === undefined) {
      throw new Misfit('configId', 'a score with the source ANNOTATION needs a score config');
    }
    // The score takes the current name of its config. A client that sends an older name or another case loses no
    // score.
    const name = config?.name ?? given.name;
    return { ...rest, name, dataType, ...valuesOf(dataType, value, config) };
  }
  if (given.traceId === null) throw new Misfit('traceId', 'a CORRECTION must be about a trace');
  if (config !== undefined) throw new Misfit('configId', 'a CORRECTION must not have a config');
  return { ...rest, name: 'output', dataType, ...valuesOf(dataType, value, undefined) };
};
