/**
 * Pairs of mapped fields: whether their values can be compared after what redaction made of them, and which
 * pair rows belong together by.
 *
 * A policy says how rows are kept only if they were written by it: a world with a policy may have rows in the clear, or
 * both. So two values are equal if they are as they stand, or if one of them is what the other's policy makes of it.
 * Digests of two salts tell nothing of one another, nor does a field that is dropped.
 */
import { type FieldPolicy, fieldPolicy, redactLookup } from '#language/capture/redact.ts';
import type { RedactPolicy } from '#language/contract.ts';
import type { CatalogEntity } from '#store/tables/catalog.ts';
import type { FieldPair } from './plan.ts';

/** Makes of a value what a policy keeps of it. */
export type Mapping = (value: unknown) => unknown;

/** Conversion of the values of either side before they are compared; undefined: none. */
export type Way = { here?: Mapping; there?: Mapping };

export type ComparedPair = {
  pair: FieldPair;
  /** Values are equal if they are so in one of these ways. The first takes them as they stand. */
  ways: readonly Way[];
  /** Ways to bring equal keys together; if there are several, the one that matches most rows. */
  keyWays: readonly Way[];
  /** Why they cannot be compared. */
  reason?: string;
};

const asTheyStand: readonly Way[] = [{}];

const policyOf = (policy: RedactPolicy | null, field: string): FieldPolicy | undefined =>
  policy === null ? undefined : fieldPolicy(policy, [field]);

const mapBy =
  (policy: RedactPolicy, field: string): Mapping =>
  (value) =>
    redactLookup(policy, [field], value)?.value ?? null;

const isSame = (here: FieldPolicy, there: FieldPolicy, sameSalt: boolean): boolean => {
  if (here.mode === 'round' && there.mode === 'round') return here.decimals === there.decimals;
  return here.mode === there.mode && here.mode !== 'drop' && sameSalt;
};

/**
 * Hashing and rounding leave alone what they made, so both sides are mapped and rows in the clear meet redacted ones.
 * A value that `preserve` made looks like any other, and would be changed once more.
 */
const keyWaysOf = (mode: FieldPolicy['mode'], byPolicy: Mapping, ways: readonly Way[]) =>
  mode === 'preserve' ? ways : [{ here: byPolicy, there: byPolicy }];

/** How the values of a pair are to be compared. */
export const comparePair = (
  pair: FieldPair,
  herePolicy: RedactPolicy | null,
  therePolicy: RedactPolicy | null,
): ComparedPair => {
  const none = { pair, ways: [], keyWays: [] };
  const here = policyOf(herePolicy, pair.field);
  const there = policyOf(therePolicy, pair.targetField);
  if (here?.mode === 'drop') return { ...none, reason: 'this world drops the field' };
  if (there?.mode === 'drop') return { ...none, reason: 'the linked world drops the field' };
  const sameSalt = herePolicy?.slug === therePolicy?.slug;
  if (here !== undefined && there !== undefined && !isSame(here, there, sameSalt)) {
    return { ...none, reason: 'the worlds redact the field each in its own way' };
  }
  const byThere =
    there === undefined || therePolicy === null ? undefined : mapBy(therePolicy, pair.targetField);
  const byHere =
    here === undefined || herePolicy === null ? undefined : mapBy(herePolicy, pair.field);
  const ways = [
    ...asTheyStand,
    ...(byThere === undefined ? [] : [{ here: byThere }]),
    ...(byHere === undefined ? [] : [{ there: byHere }]),
  ];
  const mode = (there ?? here)?.mode;
  const byPolicy = byThere ?? byHere;
  const isRedacted = mode !== undefined && byPolicy !== undefined;
  return { pair, ways, keyWays: isRedacted ? keyWaysOf(mode, byPolicy, ways) : asTheyStand };
};

/** Whether no two rows of an entity have the same value in a field. */
export const isUnique = ({ primaryKey, unique }: CatalogEntity, field: string): boolean =>
  (primaryKey.length === 1 && primaryKey[0] === field) ||
  unique.some(([path, ...others]) => others.length === 0 && path?.join('.') === field);

/** The pair that rows belong together by; undefined when none can be compared. */
export const chooseKey = (
  pairs: readonly ComparedPair[],
  { here, there }: { here: CatalogEntity; there: CatalogEntity },
  asked: ReadonlySet<string>,
): ComparedPair | undefined => {
  const rank = ({ pair }: ComparedPair): number =>
    2 * Number(isUnique(here, pair.field)) +
    2 * Number(isUnique(there, pair.targetField)) +
    Number(asked.has(pair.field));
  const usable = pairs.filter(({ reason }) => reason === undefined);
  return usable.reduce<ComparedPair | undefined>(
    (best, pair) => (best === undefined || rank(pair) > rank(best) ? pair : best),
    undefined,
  );
};
