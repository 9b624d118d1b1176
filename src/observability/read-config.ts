/** Reads the body of a new score config, and changes to an existing one. Throws `Misfit`. */
import { isObject } from '#domain/json.ts';
import { type Body, Misfit, numberProblem, readBoolean, readText } from './read-value.ts';
import { type ScoreConfig, scoreTypes } from './score.ts';

/** A score config without its id. */
export type ConfigContent = Omit<ScoreConfig, 'id'> & { description: string | null };

const nameForm = /^[\p{L}\p{N}_ .()-]{1,35}$/u;
const mostCategories = 500;
const mostLabelChars = 500;
const mostDescriptionChars = 5_000;

const readName = (body: Body): string => {
  const name = readText(body, 'name');
  if (typeof name === 'string' && nameForm.test(name)) return name;
  throw new Misfit('name', 'must have 1 to 35 letters, digits, spaces, or any of _ . ( ) -');
};

const readType = ({ dataType }: Body): ScoreConfig['dataType'] => {
  const known = scoreTypes.find((one) => one === dataType);
  if (known !== undefined && known !== 'CORRECTION') return known;
  throw new Misfit('dataType', 'must be one of NUMERIC, CATEGORICAL, BOOLEAN, TEXT');
};

const readNumber = (body: Body, name: string): number | null => {
  const value = body[name];
  if (value === undefined || value === null) return null;
  if (typeof value !== 'number') throw new Misfit(name, 'must be a number');
  const problem = numberProblem(value);
  if (problem === undefined) return value;
  throw new Misfit(name, problem);
};

type Categories = NonNullable<ScoreConfig['categories']>;

const readCategory = (given: unknown): Categories[number] => {
  const { label, value } = isObject(given) ? given : {};
  const isLabel = typeof label === 'string' && label !== '' && label.length <= mostLabelChars;
  const isNumber = typeof value === 'number' && numberProblem(value) === undefined;
  if (isLabel && isNumber) return { label: label.toWellFormed(), value };
  throw new Misfit('categories', 'must each be {label, value} with a text and a number');
};

const readCategories = ({ categories }: Body): Categories | null => {
  if (categories === undefined || categories === null) return null;
  if (!Array.isArray(categories) || categories.length > mostCategories) {
    throw new Misfit('categories', `must be a list of at most ${mostCategories}`);
  }
  const read = categories.map(readCategory);
  if (new Set(read.map(({ label }) => label)).size < read.length) {
    throw new Misfit('categories', 'must have different labels');
  }
  if (new Set(read.map(({ value }) => value)).size < read.length) {
    throw new Misfit('categories', 'must have different values');
  }
  return read;
};

const ofBoolean: Categories = [
  { label: 'True', value: 1 },
  { label: 'False', value: 0 },
];

/** Checks that the members fit the data type, and fills in the categories of a BOOLEAN config. Throws `Misfit`. */
const settle = (content: ConfigContent): ConfigContent => {
  const { dataType, minValue, maxValue, categories } = content;
  if (dataType !== 'NUMERIC' && (minValue !== null || maxValue !== null)) {
    throw new Misfit(
      'minValue',
      `and maxValue are only for NUMERIC configs; this one is ${dataType}`,
    );
  }
  if (minValue !== null && maxValue !== null && maxValue <= minValue) {
    throw new Misfit('maxValue', 'must be greater than minValue');
  }
  if (dataType === 'CATEGORICAL') {
    if (categories === null || categories.length === 0) {
      throw new Misfit('categories', 'of a CATEGORICAL config must be at least one');
    }
    return content;
  }
  if (categories !== null) {
    throw new Misfit('categories', `are only for CATEGORICAL configs; this one is ${dataType}`);
  }
  return dataType === 'BOOLEAN' ? { ...content, categories: ofBoolean } : content;
};

/** Reads the body of a new score config. */
export const readConfig = (body: Body): ConfigContent =>
  settle({
    name: readName(body),
    dataType: readType(body),
    isArchived: false,
    minValue: readNumber(body, 'minValue'),
    maxValue: readNumber(body, 'maxValue'),
    categories: readCategories(body),
    description: readText(body, 'description', mostDescriptionChars) ?? null,
  });

const changeable = ['isArchived', 'name', 'minValue', 'maxValue', 'categories', 'description'];

/** Applies the changes of a body to a config; members that are null or absent change nothing. */
export const changeConfig = (known: ConfigContent, body: Body): ConfigContent => {
  const isGiven = (name: string): boolean => body[name] !== undefined && body[name] !== null;
  if (!changeable.some(isGiven)) {
    throw new Misfit('', `a change has at least one of ${changeable.join(', ')}`);
  }
  const kept = known.dataType === 'BOOLEAN' ? null : known.categories;
  return settle({
    ...known,
    isArchived: readBoolean(body, 'isArchived') ?? known.isArchived,
    name: isGiven('name') ? readName(body) : known.name,
    minValue: readNumber(body, 'minValue') ?? known.minValue,
    maxValue: readNumber(body, 'maxValue') ?? known.maxValue,
    categories: readCategories(body) ?? kept,
    description: readText(body, 'description', mostDescriptionChars) ?? known.description,
  });
};
