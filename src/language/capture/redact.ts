/**
 * Redaction policy of a world, `[redact]`: pure functions that rewrite a row (write mode `apply`), verify a row (write
 * mode `refuse`), and convert the plaintext of a query.
 *
 * `hash` and `preserve` apply to each item of a list, also in nested lists; `round` does not. Objects are not redacted
 * themselves, only their fields. If a hashed or preserved field has an object, values in the object without a rule of
 * their own stay under `apply`, and `refuse` rejects them. A text in the form of a digest is not hashed again, so
 * `apply` leaves unchanged what `refuse` accepts.
 *
 * Time is linear in the size of the row, and any nesting depth is handled. A policy must not be altered after its first
 * use.
 */

import { escapeSegment } from '#domain/json.ts';
import type { FieldPath, RedactPolicy, Row } from '../contract.ts';
import { isDigest, redactScalar } from './redact-modes.ts';
import {
  type Container,
  emptyLike,
  enterItem,
  enterKey,
  type FieldPolicy,
  isContainer,
  type Position,
  partsOf,
  putPart,
  type Rules,
  rowPosition,
  rulesOf,
} from './redact-rules.ts';

export type { FieldPolicy } from './redact-rules.ts';

/**
 * Numbers of values that redaction changed. A dropped field counts once, whatever its value. `digests` counts values of
 * hashed fields that stayed because they are digests, or look like one.
 */
type RedactCounts = Record<'hashed' | 'dropped' | 'preserved' | 'rounded' | 'digests', number>;

/**
 * Plaintext in a redacted field. `field` is the top-level field at fault, and `pointer` leads to the plaintext.
 * `detail` continues a sentence that begins with either, and never quotes the plaintext.
 */
type RedactViolation = {
  pointer: string;
  field: string;
  mode: FieldPolicy['mode'];
  detail: string;
};

const maxViolations = 20;

const counterOf = {
  drop: 'dropped',
  hash: 'hashed',
  preserve: 'preserved',
  round: 'rounded',
} as const;

/** Returns a redacted copy of a list or object, and adds its changes to the counts. */
const redactContainer = (
  rules: Rules,
  container: Container,
  at: Position,
  counts: RedactCounts,
): Container => {
  const redacted = emptyLike(container);
  const left = [{ source: container, copy: redacted, at }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    for (const { key, value, position } of partsOf(rules, next.source, next.at)) {
      const { policy } = position;
      if (policy?.mode === 'drop') {
        counts.dropped += 1;
      } else if (isContainer(value)) {
        const copy = emptyLike(value);
        putPart(next.copy, key, copy);
        left.push({ source: value, copy, at: position });
      } else {
        const kept = redactScalar(rules.slug, policy, value);
        if (policy !== undefined && kept !== value) counts[counterOf[policy.mode]] += 1;
        else if (policy?.mode === 'hash' && isDigest(value)) counts.digests += 1;
        putPart(next.copy, key, kept);
      }
    }
  }
  return redacted;
};

const noCounts = (): RedactCounts => ({
  hashed: 0,
  dropped: 0,
  preserved: 0,
  rounded: 0,
  digests: 0,
});

/** Returns a redacted copy of a row, with its keys in the same order, and the numbers of changes. */
export const redactRow = (policy: RedactPolicy, row: Row): { row: Row; counts: RedactCounts } => {
  const rules = rulesOf(policy);
  const counts = noCounts();
  const redacted = redactContainer(rules, row, rowPosition(rules), counts);
  return { row: redacted as Row, counts };
};

const violates = (slug: string, policy: FieldPolicy, value: unknown): boolean => {
  if (policy.mode === 'drop') return true;
  if (policy.mode === 'preserve' || isContainer(value)) return false;
  return redactScalar(slug, policy, value) !== value;
};

const describeViolation = (policy: FieldPolicy): string => {
  if (policy.mode === 'drop') return 'is present, but the policy drops the field';
  if (policy.mode === 'round') {
    return `has more than ${policy.decimals} decimals, but the policy rounds it`;
  }
  return 'is plaintext, but the policy requires its digest, sha256:<64 hex>';
};

/**
 * Mode of a field whose value is an object. It decides about the values in the object that have no rule of their own.
 */
type Holder = 'hash' | 'preserve' | undefined;

const leftInObject = (holder: 'hash' | 'preserve'): string =>
  `is plaintext in an object of a ${holder === 'hash' ? 'hashed' : 'preserved'} field; objects are not redacted as a whole, so name their fields in [redact]`;

/** Returns the fault of a value, if it has one; `holder` is the mode of the enclosing object. */
const faultOf = (
  slug: string,
  policy: FieldPolicy | undefined,
  value: unknown,
  holder: Holder,
): Pick<RedactViolation, 'mode' | 'detail'> | undefined => {
  if (policy !== undefined) {
    if (!violates(slug, policy, value)) return undefined;
    return { mode: policy.mode, detail: describeViolation(policy) };
  }
  if (holder === undefined || isContainer(value) || value === null || isDigest(value)) {
    return undefined;
  }
  return { mode: holder, detail: leftInObject(holder) };
};

/** Returns the mode that the values in a list or object inherit. `round` does not apply to lists. */
const holderWithin = (
  policy: FieldPolicy | undefined,
  container: Container,
  holder: Holder,
): Holder => {
  if (policy === undefined || policy.mode === 'round') return holder;
  return policy.mode === 'drop' || Array.isArray(container) ? undefined : policy.mode;
};

type Unverified = {
  container: Container;
  at: Position;
  /** Mode of the nearest enclosing field; it decides if no rule of the value itself applies. */
  holder: Holder;
  pointer: string;
  field: string | undefined;
};

/**
 * Returns the violations of a row, at most 20, the outermost first; empty if the row may be stored. A preserved text or
 * number cannot be distinguished from plaintext, so both pass.
 */
export const verifyRow = (policy: RedactPolicy, row: Row): RedactViolation[] => {
  const rules = rulesOf(policy);
  const violations: RedactViolation[] = [];
  const left: Unverified[] = [
    { container: row, at: rowPosition(rules), pointer: '', field: undefined, holder: undefined },
  ];
  for (const { container, at, pointer: above, field: top, holder } of left) {
    for (const { key, value, position } of partsOf(rules, container, at)) {
      const { policy } = position;
      const pointer = `${above}/${escapeSegment(key)}`;
      const field = top ?? key;
      const fault = faultOf(rules.slug, policy, value, holder);
      if (fault !== undefined) {
        violations.push({ pointer, field, ...fault });
        if (violations.length === maxViolations) return violations;
      } else if (isContainer(value)) {
        const inner = holderWithin(policy, value, holder);
        left.push({ container: value, at: position, pointer, field, holder: inner });
      }
    }
  }
  return violations;
};

const positionOf = (rules: Rules, path: FieldPath): Position => {
  let position = rowPosition(rules);
  for (const segment of path) {
    const isItem = segment === '*' || /^\d+$/.test(segment);
    position = isItem ? enterItem(position) : enterKey(rules, position, segment);
    if (position.policy?.mode === 'drop') return position;
  }
  return position;
};

/**
 * Returns the effective policy of a field; undefined if the field is not redacted. In the path, `*` or a whole number
 * means an item of a list. Everything in a dropped field is dropped.
 */
export const fieldPolicy = (policy: RedactPolicy, path: FieldPath): FieldPolicy | undefined =>
  positionOf(rulesOf(policy), path).policy;

/**
 * Returns the stored form of a query's plaintext, or of a list of plaintexts, one of which must match. Returns
 * undefined if the field is dropped, so that nothing matches. A plaintext must have the type that the field has in
 * rows.
 */
export const redactLookup = (
  policy: RedactPolicy,
  path: FieldPath,
  value: unknown,
): { value: unknown } | undefined => {
  const rules = rulesOf(policy);
  const at = positionOf(rules, path);
  if (at.policy?.mode === 'drop') return undefined;
  const redact = (plaintext: unknown): unknown =>
    isContainer(plaintext)
      ? redactContainer(rules, plaintext, at, noCounts())
      : redactScalar(rules.slug, at.policy, plaintext);
  return { value: Array.isArray(value) ? value.map(redact) : redact(value) };
};
