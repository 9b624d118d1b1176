/**
 * Redaction of rows that are written into a world: the write modes `apply` and `refuse`, and the conversion of
 * plaintexts for look-ups.
 *
 * An import calls these functions for every row, so a row without changes costs next to nothing and is returned itself.
 * `redact.ts` defines the rules, and handles rows that nest too deep for recursion.
 */
import { own, parsePointer } from '#domain/json.ts';
import type { FieldPath, RedactPolicy, Row } from '../contract.ts';
import { redactLookup, redactRow, verifyRow } from './redact.ts';
import { isDigest, redactScalar } from './redact-modes.ts';
import {
  type Container,
  enterItem,
  enterKey,
  type FieldPolicy,
  isContainer,
  type Position,
  putPart,
  type Rules,
  rowPosition,
  rulesOf,
} from './redact-rules.ts';

/** Plaintext because of which a row is refused. The plaintext itself is never quoted. */
export type Breach = {
  /** Top-level field at fault. */
  field: string;
  /** JSON pointer from the row to the value. It stops before names that may themselves be data. */
  pointer: string;
  /** Policy of the field: `hash`, `drop`, `preserve` or `round:<decimals>`. */
  policy: string;
  /** Cause of the refusal and the way out, as the end of a sentence. */
  detail: string;
};

/** Functions that apply a world's redaction policy, prepared for use on many rows. */
export type Redaction = {
  /** Returns the row to be stored; the same object if nothing changes, else a copy. */
  applyPolicy(row: Row): Row;
  /** Returns the first plaintext that the row has in a redacted field; undefined if the row may be stored. */
  verifyPolicy(row: Row): Breach | undefined;
  /**
   * Returns the stored value for a plaintext, or for a list of plaintexts; undefined for a dropped field, which stores
   * nothing. In the path, `*` or a number means an item of a list.
   */
  resolveValue(path: FieldPath, plaintext: unknown): { value: unknown } | undefined;
};

/** Nesting depth above which rows are walked without recursion. */
const mostLevels = 64;

const tooDeep = Symbol('too deep');
const dropped = Symbol('dropped');

/** Returns a copy of the values before the one at `end`. */
const copyBefore = (source: Container, keys: readonly string[], end: number): Container => {
  if (Array.isArray(source)) return source.slice(0, end);
  const copy: Row = {};
  for (let at = 0; at < end; at += 1) {
    const key = keys[at] as string;
    putPart(copy, key, source[key]);
  }
  return copy;
};

/** Returns the stored form of a value at a position. */
const keep = (rules: Rules, value: unknown, at: Position, level: number): unknown => {
  if (at.policy?.mode === 'drop') return dropped;
  if (!isContainer(value)) {
    return at.policy === undefined ? value : redactScalar(rules.slug, at.policy, value);
  }
  if (level === mostLevels) return tooDeep;
  return Array.isArray(value)
    ? keepList(rules, value, at, level + 1)
    : keepObject(rules, value, at, level + 1);
};

const keepList = (rules: Rules, list: unknown[], at: Position, level: number): unknown => {
  const inside = enterItem(at);
  let copy: unknown[] | undefined;
  for (let index = 0; index < list.length; index += 1) {
    const value = list[index];
    const kept = keep(rules, value, inside, level);
    if (kept === tooDeep) return tooDeep;
    if (copy === undefined && kept === value) continue;
    copy ??= copyBefore(list, [], index) as unknown[];
    if (kept !== dropped) copy.push(kept);
  }
  return copy ?? list;
};

const keepObject = (rules: Rules, object: Row, at: Position, level: number): unknown => {
  const keys = Object.keys(object);
  let copy: Container | undefined;
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index] as string;
    const value = object[key];
    const isPlain = at.step === undefined && !rules.names.has(key) && !isContainer(value);
    const kept = isPlain ? value : keep(rules, value, enterKey(rules, at, key), level);
    if (kept === tooDeep) return tooDeep;
    if (copy === undefined && kept === value) continue;
    copy ??= copyBefore(object, keys, index);
    if (kept !== dropped) putPart(copy, key, kept);
  }
  return copy ?? object;
};

/** Returns true if a scalar is plaintext that its field must not hold. */
const isBreach = (slug: string, policy: FieldPolicy, value: unknown): boolean => {
  if (policy.mode === 'preserve' || value === null) return false;
  return policy.mode === 'hash' ? !isDigest(value) : redactScalar(slug, policy, value) !== value;
};

/** Returns true if a row needs the full verification, because it may have plaintext in a redacted field. */
const isSuspect = (rules: Rules, container: Container, at: Position, level: number): boolean => {
  if (level > mostLevels) return true;
  const isList = Array.isArray(container);
  const inside = isList ? enterItem(at) : undefined;
  for (const key of Object.keys(container)) {
    const value = (container as Row)[key];
    if (!isList && at.step === undefined && !isContainer(value) && !rules.names.has(key)) continue;
    const position = inside ?? enterKey(rules, at, key);
    const { policy } = position;
    if (policy?.mode === 'drop') return true;
    if (isContainer(value)) {
      // The full verification judges the contents of an object in a redacted field.
      if (policy !== undefined && !Array.isArray(value)) return true;
      if (isSuspect(rules, value, position, level + 1)) return true;
    } else if (policy !== undefined && isBreach(rules.slug, policy, value)) return true;
  }
  return false;
};

/** Formats a policy: `hash`, `round:2`. */
export const policyText = (policy: FieldPolicy): string =>
  policy.mode === 'round' ? `round:${policy.decimals}` : policy.mode;

const advice = 'import with "redact": "apply", or store the redacted form';

const breachOf = (policy: RedactPolicy, row: Row): Breach | undefined => {
  const [violation] = verifyRow(policy, row);
  if (violation === undefined) return undefined;
  const { field, pointer, mode, detail } = violation;
  const decimals = own(policy.round, parsePointer(pointer).at(-1) ?? '') ?? 0;
  return {
    field,
    pointer,
    policy: mode === 'round' ? policyText({ mode, decimals }) : mode,
    detail: `${detail}; ${advice}`,
  };
};

/** Creates the redaction of a policy; without a policy every row stays unchanged. */
export const createRedaction = (policy: RedactPolicy | null): Redaction => {
  if (policy === null) {
    return {
      applyPolicy: (row) => row,
      verifyPolicy: () => undefined,
      resolveValue: (_path, value) => ({ value }),
    };
  }
  const rules = rulesOf(policy);
  const ofRow = rowPosition(rules);
  return {
    applyPolicy: (row) => {
      const kept = keepObject(rules, row, ofRow, 1);
      return kept === tooDeep ? redactRow(policy, row).row : (kept as Row);
    },
    verifyPolicy: (row) => (isSuspect(rules, row, ofRow, 1) ? breachOf(policy, row) : undefined),
    resolveValue: (path, plaintext) => redactLookup(policy, path, plaintext),
  };
};
