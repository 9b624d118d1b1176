/**
 * Pairs of mapped fields of two worlds: decides whether their values can be compared after redaction, and by which
 * pair rows are matched.
 *
 * A policy applies only to rows that were imported under it, so a world with a policy may hold unredacted rows,
 * redacted ones, or both. So two values are equal if they are equal as stored, or if one is the other redacted by the
 * other side's policy. Hashes with two different salts cannot be compared, and neither can a dropped field.
 */
import { type FieldPolicy, fieldPolicy, redactLookup } from '#language/capture/redact.ts';
import type { RedactPolicy } from '#language/contract.ts';
import type { CatalogEntity } from '#store/tables/catalog.ts';
import type { FieldPair } from './plan.ts';

/** Redacts a value by a policy. */
export type Mapping = (value: unknown) => unknown;

/** Conversion of the values of either side before they are compared; undefined: none. */
export type Conversion = { here?: Mapping; there?: Mapping };

export type ComparedPair = {
  pair: FieldPair;
  /**
   * Conversions for comparing two values; the values are equal if they are equal under any of these. The first compares
   * the values as stored.
   */
  conversions: readonly Conversion[];
  /** Conversions for matching keys; if there are several, the one that matches most rows is used. */
  keyConversions: readonly Conversion[];
  /** Reason why the two fields cannot be compared; absent if they can. */
  reason?: string;
};

const asTheyStand: readonly Conversion[] = [{}];

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
 * Returns the conversions for matching keys. Hashing and rounding leave their own results unchanged, so both sides are
 * converted, and unredacted rows match redacted ones. A result of `preserve` looks like any other value and would be
 * changed again, so each conversion is tried.
 */
const keyConversionsOf = (
  mode: FieldPolicy['mode'],
  byPolicy: Mapping,
  conversions: readonly Conversion[],
) => (mode === 'preserve' ? conversions : [{ here: byPolicy, there: byPolicy }]);

/** Returns how the values of a pair are compared. */
export const comparePair = (
  pair: FieldPair,
  herePolicy: RedactPolicy | null,
  therePolicy: RedactPolicy | null,
): ComparedPair => {
  const none = { pair, conversions: [], keyConversions: [] };
  const here = policyOf(herePolicy, pair.field);
  const there = policyOf(therePolicy, pair.targetField);
  if (here?.mode === 'drop') return { ...none, reason: 'this world drops the field' };
  if (there?.mode === 'drop') return { ...none, reason: 'the linked world drops the field' };
  const sameSalt = herePolicy?.slug === therePolicy?.slug;
  if (here !== undefined && there !== undefined && !isSame(here, there, sameSalt)) {
    return { ...none, reason: 'the two worlds redact the field in different ways' };
  }
  const byThere =
    there === undefined || therePolicy === null ? undefined : mapBy(therePolicy, pair.targetField);
  const byHere =
    here === undefined || herePolicy === null ? undefined : mapBy(herePolicy, pair.field);
  const conversions = [
    ...asTheyStand,
    ...(byThere === undefined ? [] : [{ here: byThere }]),
    ...(byHere === undefined ? [] : [{ there: byHere }]),
  ];
  const mode = (there ?? here)?.mode;
  const byPolicy = byThere ?? byHere;
  const isRedacted = mode !== undefined && byPolicy !== undefined;
  return {
    pair,
    conversions,
    keyConversions: isRedacted ? keyConversionsOf(mode, byPolicy, conversions) : asTheyStand,
  };
};

/** Returns true if no two rows of an entity have the same value in a field. */
export const isUnique = ({ primaryKey, unique }: CatalogEntity, field: string): boolean =>
  (primaryKey.length === 1 && primaryKey[0] === field) ||
  unique.some(([path, ...others]) => others.length === 0 && path?.join('.') === field);

/** Returns the pair by which rows are matched; undefined if no pair can be compared. */
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
