/** Reads the body of a model: its name, the pattern of the names that it matches, and its prices. Throws `Misfit`. */
import { isObject } from '#domain/json.ts';
import {
  type AttributeCondition,
  attributeSources,
  type PricingTier,
  type TierCondition,
  type TierOperator,
  tierOperators,
  type UsageCondition,
  type UsageUnit,
  usageUnits,
} from './pricing.ts';
import { type Body, Misfit, readRecord, readText, readTime } from './read-value.ts';
import { type Counts, mostDollars } from './usage.ts';

/**
 * Limits for the body of a model: maximum lengths in characters, and maximum numbers of tiers, conditions, values and
 * prices.
 */
export const modelLimits = {
  nameChars: 200,
  patternChars: 500,
  conditionChars: 200,
  tiers: 20,
  conditions: 10,
  values: 100,
  prices: 100,
  priority: 999,
  configChars: 10_000,
} as const;

/** A tier as a client sends it, without an id. */
export type GivenTier = Omit<PricingTier, 'id'>;

/** Content of a model as a client sends it. */
export type ModelContent = {
  modelName: string;
  matchPattern: string;
  startDate: number | null;
  unit: UsageUnit | null;
  tokenizerId: string | null;
  /** Tokenizer configuration as JSON text; null if none was given. */
  tokenizerConfig: string | null;
  tiers: readonly GivenTier[];
};

const needText = (body: Body, name: string, most: number, path = name): string => {
  const text = body[name];
  if (typeof text !== 'string' || text.trim() === '') throw new Misfit(path, 'must be a text');
  if (text.length > most) throw new Misfit(path, `must have at most ${most} characters`);
  if (text.includes('\0') || !text.isWellFormed())
    throw new Misfit(path, 'must be a text without NUL or half characters');
  return text.trim();
};

const oneOf = <Word extends string>(words: readonly Word[], given: unknown, path: string): Word => {
  const known = words.find((word) => word === given);
  if (known !== undefined) return known;
  throw new Misfit(path, `must be one of ${words.join(', ')}`);
};

const readPrice = (value: unknown, path: string): number => {
  if (typeof value === 'number' && value >= 0 && value <= mostDollars) return value;
  throw new Misfit(path, `must be a number of dollars, from 0 to ${mostDollars}`);
};

const readPrices = (given: unknown, path: string): Counts => {
  if (!isObject(given)) throw new Misfit(path, 'must be an object of prices by names of usage');
  const entries = Object.entries(given);
  if (entries.length === 0) throw new Misfit(path, 'needs a price');
  if (entries.length > modelLimits.prices) {
    throw new Misfit(path, `must have at most ${modelLimits.prices} prices`);
  }
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const at = `${path}.${name.slice(0, 50)}`;
      if (name === '' || name.length > modelLimits.nameChars || !name.isWellFormed()) {
        throw new Misfit(at, `must have a name of 1 to ${modelLimits.nameChars} characters`);
      }
      return [name, readPrice(value, at)];
    }),
  );
};

const readUsageCondition = (given: Body, path: string): UsageCondition => {
  const usageDetailPattern = needText(
    given,
    'usageDetailPattern',
    modelLimits.conditionChars,
    `${path}.usageDetailPattern`,
  );
  const { value, caseSensitive } = given;
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw new Misfit(`${path}.value`, 'must be a number');
  }
  if (caseSensitive !== undefined && caseSensitive !== null && typeof caseSensitive !== 'boolean') {
    throw new Misfit(`${path}.caseSensitive`, 'must be true or false');
  }
  return {
    usageDetailPattern,
    operator: oneOf<TierOperator>(tierOperators, given.operator, `${path}.operator`),
    value,
    caseSensitive: caseSensitive === true,
  };
};

const readAttributeCondition = (given: Body, path: string): AttributeCondition => {
  const { values } = given;
  if (!Array.isArray(values) || values.length === 0 || values.length > modelLimits.values) {
    throw new Misfit(`${path}.values`, `must be a list of 1 to ${modelLimits.values} texts`);
  }
  const { nameChars } = modelLimits;
  for (const [index, value] of values.entries()) {
    if (typeof value !== 'string' || value.length > nameChars || !value.isWellFormed()) {
      throw new Misfit(
        `${path}.values.${index}`,
        `must be a text of at most ${nameChars} characters`,
      );
    }
    if (value.includes('\0'))
      throw new Misfit(`${path}.values.${index}`, 'must be a text without NUL or half characters');
  }
  return {
    source: oneOf(attributeSources, given.source, `${path}.source`),
    key: needText(given, 'key', nameChars, `${path}.key`),
    operator: oneOf(['in'] as const, given.operator, `${path}.operator`),
    values,
  };
};

const readCondition = (given: unknown, path: string): TierCondition => {
  if (!isObject(given)) throw new Misfit(path, 'must be an object');
  const isOfAttribute = given.source !== undefined && given.source !== null;
  return isOfAttribute ? readAttributeCondition(given, path) : readUsageCondition(given, path);
};

const readList = (given: unknown, path: string, most: number): readonly unknown[] => {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given) || given.length > most) {
    throw new Misfit(path, `must be a list of at most ${most}`);
  }
  return given;
};

const readTier = (given: unknown, path: string): GivenTier => {
  if (!isObject(given)) throw new Misfit(path, 'must be an object');
  const { isDefault, priority } = given;
  if (typeof isDefault !== 'boolean') {
    throw new Misfit(`${path}.isDefault`, 'must be true or false');
  }
  const isPriority = Number.isInteger(priority) && (priority as number) >= 0;
  if (!isPriority || (priority as number) > modelLimits.priority) {
    throw new Misfit(
      `${path}.priority`,
      `must be a whole number from 0 to ${modelLimits.priority}`,
    );
  }
  const conditions = readList(given.conditions, `${path}.conditions`, modelLimits.conditions).map(
    (one, index) => readCondition(one, `${path}.conditions.${index}`),
  );
  if (isDefault && (conditions.length > 0 || priority !== 0)) {
    throw new Misfit(path, 'is the default: it has priority 0 and no conditions');
  }
  if (!isDefault && (conditions.length === 0 || priority === 0)) {
    throw new Misfit(path, 'is not the default: it needs conditions, and a priority from 1');
  }
  return {
    name: needText(given, 'name', modelLimits.nameChars, `${path}.name`),
    isDefault,
    priority: priority as number,
    conditions,
    prices: readPrices(given.prices, `${path}.prices`),
  };
};

const namesOf = ({ prices }: GivenTier): string => JSON.stringify(Object.keys(prices).sort());

const checkTiers = (tiers: readonly GivenTier[]): void => {
  const path = 'pricingTiers';
  const refuse = (message: string) => new Misfit(path, message);
  if (tiers.filter(({ isDefault }) => isDefault).length !== 1) {
    throw refuse('must have exactly one default tier');
  }
  if (new Set(tiers.map(({ name }) => name)).size < tiers.length) {
    throw refuse('must have different names');
  }
  if (new Set(tiers.map(({ priority }) => priority)).size < tiers.length) {
    throw refuse('must have different priorities');
  }
  if (new Set(tiers.map(namesOf)).size > 1)
    throw refuse('must all have prices for the same names of usage');
};

const flatNames = { inputPrice: 'input', outputPrice: 'output', totalPrice: 'total' } as const;

/** Converts prices that are given without tiers to a single default tier. */
const readFlat = (body: Body): GivenTier[] => {
  const given = Object.entries(flatNames).filter(
    ([name]) => body[name] !== undefined && body[name] !== null,
  );
  if (given.length === 0) return [];
  const prices = Object.fromEntries(
    given.map(([from, name]) => [name, readPrice(body[from], from)]),
  );
  if ('total' in prices && given.length > 1) {
    throw new Misfit('totalPrice', 'cannot be combined with inputPrice and outputPrice');
  }
  return [{ name: 'Standard', isDefault: true, priority: 0, conditions: [], prices }];
};

const readTiers = (body: Body): GivenTier[] => {
  const flat = readFlat(body);
  const { pricingTiers } = body;
  if (pricingTiers === undefined || pricingTiers === null) return flat;
  if (flat.length > 0) {
    throw new Misfit(
      'pricingTiers',
      'cannot be combined with inputPrice, outputPrice or totalPrice',
    );
  }
  const tiers = readList(pricingTiers, 'pricingTiers', modelLimits.tiers).map((one, index) =>
    readTier(one, `pricingTiers.${index}`),
  );
  checkTiers(tiers);
  return tiers;
};

const readConfig = (body: Body): string | null => {
  const text = readRecord(body, 'tokenizerConfig') ?? null;
  if (text === null || text.length <= modelLimits.configChars) return text;
  throw new Misfit('tokenizerConfig', `must have at most ${modelLimits.configChars} characters`);
};

const dayForm = /^\d{4}-\d\d-\d\d$/;

/** Reads the start of the model's validity; a date without a time means the start of that day in UTC. */
const readStart = (body: Body): number | null => {
  const { startDate } = body;
  const isDay = typeof startDate === 'string' && dayForm.test(startDate);
  const given = isDay ? { startDate: `${startDate}T00:00:00Z` } : body;
  return readTime(given, 'startDate') ?? null;
};

/** Reads the body of a model. The caller checks elsewhere that the patterns are valid RE2. */
export const readModel = (body: Body): ModelContent => ({
  modelName: needText(body, 'modelName', modelLimits.nameChars),
  matchPattern: needText(body, 'matchPattern', modelLimits.patternChars),
  startDate: readStart(body),
  unit: body.unit === undefined || body.unit === null ? null : oneOf(usageUnits, body.unit, 'unit'),
  tokenizerId: readText(body, 'tokenizerId', modelLimits.nameChars) ?? null,
  tokenizerConfig: readConfig(body),
  tiers: readTiers(body),
});
