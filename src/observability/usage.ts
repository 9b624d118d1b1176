/**
 * Usage and cost of a model, in the several forms in which clients send them. They are stored as counts under names
 * that clients choose. Counts whose names begin with `input` or `output` add up to the whole input or output; `total`
 * is the whole.
 */
import { isObject } from '#domain/json.ts';
import type { Body } from './read-value.ts';

export type Counts = Readonly<Record<string, number>>;

/** Maximum number of names in the usage of one observation. */
const mostNames = 100;
const mostNameChars = 200;

const numberOf = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number) || number < 0) return undefined;
  return number;
};

const isCount = (value: number | undefined): value is number => Number.isSafeInteger(value);

/** Largest plausible cost of one call, in dollars; larger costs are dropped, as are negative ones. */
export const mostDollars = 1e12;

const dollarsOf = (value: unknown): number | undefined => {
  const number = numberOf(value);
  return number === undefined || number > mostDollars ? undefined : number;
};

const entriesOf = (given: unknown, read = numberOf): [string, number][] => {
  if (!isObject(given)) return [];
  return Object.entries(given)
    .filter(([name]) => name.length <= mostNameChars && name.isWellFormed())
    .flatMap(([name, value]): [string, number][] => {
      const number = read(value);
      return number === undefined ? [] : [[name, number]];
    })
    .slice(0, mostNames);
};

/**
 * Splits the count of input or output into its details, whose names get the prefix `input` or `output`, and the
 * remainder without the details.
 */
const splitSide = (side: 'input' | 'output', whole: number, details: unknown): Counts => {
  const parts = entriesOf(details).filter(([, count]) => isCount(count));
  const taken = parts.reduce((sum, [, count]) => sum + count, 0);
  return {
    [side]: Math.max(0, whole - taken),
    ...Object.fromEntries(parts.map(([name, count]) => [`${side}_${name}`, count])),
  };
};

type Vendor = { input: string; output: string; inputDetails: string; outputDetails: string };

/** Names that one vendor's two APIs use for the same counts. */
const vendors: readonly Vendor[] = [
  {
    input: 'prompt_tokens',
    output: 'completion_tokens',
    inputDetails: 'prompt_tokens_details',
    outputDetails: 'completion_tokens_details',
  },
  {
    input: 'input_tokens',
    output: 'output_tokens',
    inputDetails: 'input_tokens_details',
    outputDetails: 'output_tokens_details',
  },
];

const readVendors = (given: Body): Counts | undefined => {
  for (const { input, output, inputDetails, outputDetails } of vendors) {
    const [used, made] = [numberOf(given[input]), numberOf(given[output])];
    if (!isCount(used) || !isCount(made)) continue;
    const total = numberOf(given.total_tokens);
    return {
      ...splitSide('input', used, given[inputDetails]),
      ...splitSide('output', made, given[outputDetails]),
      total: isCount(total) ? total : used + made,
    };
  }
  return undefined;
};

/** Returns the sums of counts for input, output and total. The total is the given one, else the sum of all counts. */
export const totalsOf = (counts: Counts): { input: number; output: number; total: number } => {
  const sums = { input: 0, output: 0, total: 0 };
  for (const name in counts) {
    const count = counts[name] ?? 0;
    if (name.startsWith('input')) sums.input += count;
    if (name.startsWith('output')) sums.output += count;
    sums.total += count;
  }
  sums.total = counts.total ?? sums.total;
  return sums;
};

const withTotal = (counts: Counts): Counts | undefined =>
  Object.keys(counts).length === 0 ? undefined : { ...counts, total: totalsOf(counts).total };

const pick = (given: Body, names: Readonly<Record<string, string>>, read = numberOf): Counts => {
  const picked: Record<string, number> = {};
  for (const name in names) {
    const number = read(given[names[name] ?? name]);
    if (number !== undefined) picked[name] = number;
  }
  return picked;
};

const plainNames = { input: 'input', output: 'output', total: 'total' };
const promptNames = { input: 'promptTokens', output: 'completionTokens', total: 'totalTokens' };
const costNames = { input: 'inputCost', output: 'outputCost', total: 'totalCost' };

const countsOnly = (counts: Counts): Counts => {
  const entries = Object.entries(counts);
  if (entries.every(([, count]) => isCount(count))) return counts;
  return Object.fromEntries(entries.filter(([, count]) => isCount(count)));
};

/** Reads the usage from `usageDetails` or the older `usage`; returns undefined if neither has any counts. */
export const readUsage = ({ usageDetails, usage }: Body): Counts | undefined => {
  if (isObject(usageDetails)) {
    const counts =
      readVendors(usageDetails) ?? countsOnly(Object.fromEntries(entriesOf(usageDetails)));
    if (Object.keys(counts).length > 0) return withTotal(counts);
  }
  if (!isObject(usage)) return undefined;
  const counts = readVendors(usage) ?? { ...pick(usage, promptNames), ...pick(usage, plainNames) };
  return withTotal(countsOnly(counts));
};

/** Reads the cost in dollars that the client sent; returns undefined if the client sent none. */
export const readCost = ({ costDetails, usage }: Body): Counts | undefined => {
  const counts = isObject(costDetails) ? Object.fromEntries(entriesOf(costDetails, dollarsOf)) : {};
  if (Object.keys(counts).length > 0) return withTotal(counts);
  return isObject(usage) ? withTotal(pick(usage, costNames, dollarsOf)) : undefined;
};
