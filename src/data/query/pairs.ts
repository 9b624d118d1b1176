/**
 * Pairs of mapped fields: whether their values can be compared after what redaction made of them, and which
 * pair rows belong together by.
 *
 * A field that one side has in the clear and the other redacted is compared by redacting the clear one as the
 * other side does. Digests of two salts tell nothing of one another, nor does a field that is dropped.
 */
import { type FieldPolicy, fieldPolicy, redactLookup } from '#language/capture/redact.ts';
import type { RedactPolicy } from '#language/contract.ts';
import type { CatalogEntity } from '#store/tables/catalog.ts';
import type { FieldPair } from './plan.ts';

export type ComparedPair = {
  pair: FieldPair;
  /** Makes of a value of this side what the other would hold. */
  here?: (value: unknown) => unknown;
  there?: (value: unknown) => unknown;
  /** Why they cannot be compared. */
  reason?: string;
};

const policyOf = (policy: RedactPolicy | null, field: string): FieldPolicy | undefined =>
  policy === null ? undefined : fieldPolicy(policy, [field]);

const mapBy =
  (policy: RedactPolicy, field: string) =>
  (value: unknown): unknown =>
    redactLookup(policy, [field], value)?.value ?? null;

const isSame = (here: FieldPolicy, there: FieldPolicy, sameSalt: boolean): boolean => {
  if (here.mode === 'round' && there.mode === 'round') return here.decimals === there.decimals;
  return here.mode === there.mode && here.mode !== 'drop' && sameSalt;
};

/** How the values of a pair are to be compared. */
export const comparePair = (
  pair: FieldPair,
  herePolicy: RedactPolicy | null,
  therePolicy: RedactPolicy | null,
): ComparedPair => {
  const here = policyOf(herePolicy, pair.field);
  const there = policyOf(therePolicy, pair.targetField);
  if (here?.mode === 'drop') return { pair, reason: 'this world drops the field' };
  if (there?.mode === 'drop') return { pair, reason: 'the linked world drops the field' };
  if (here === undefined && there === undefined) return { pair };
  if (here === undefined && therePolicy !== null) {
    return { pair, here: mapBy(therePolicy, pair.targetField) };
  }
  if (there === undefined && herePolicy !== null) {
    return { pair, there: mapBy(herePolicy, pair.field) };
  }
  const sameSalt = herePolicy?.slug === therePolicy?.slug;
  if (here !== undefined && there !== undefined && isSame(here, there, sameSalt)) return { pair };
  return { pair, reason: 'the worlds redact the field each in its own way' };
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
