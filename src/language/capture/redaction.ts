/**
 * The redaction of rows on their way into a world: what the write modes `apply` and `refuse` do to each, and what a
 * plaintext is looked up as. An import asks this about every one of its rows, so a row that nothing is done to costs
 * next to nothing and comes back as it is. What the rules mean is in `redact.ts`, which walks rows that nest too deep
 * to recurse into.
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

/** Plaintext in a row that is refused for it. Nothing of it is quoted. */
export type Breach = {
  /** The top-level field at fault. */
  field: string;
  /** JSON pointer to the value, into the row; names that may be data themselves end it early. */
  pointer: string;
  /** What the world does to the field: `hash`, `drop`, `preserve` or `round:<decimals>`. */
  policy: string;
  /** What is wrong and what to do about it, as the end of a sentence. */
  detail: string;
};

/** What is known of a world's policy, asked about row after row. */
export type Redaction = {
  /** The row as it is to be stored; the same one when nothing of it changes, else a copy. */
  applyPolicy(row: Row): Row;
  /** The first plaintext in a redacted field; undefined when the row may be stored. */
  verifyPolicy(row: Row): Breach | undefined;
  /**
   * What a field holds where the plaintext is that value, or that list of values; undefined for a dropped field,
   * which holds nothing. In the path `*` or a number stands for an item of a list.
   */
  resolveValue(path: FieldPath, plaintext: unknown): { value: unknown } | undefined;
};

/** Rows that nest deeper are walked without recursion. */
const mostLevels = 64;

const tooDeep = Symbol('too deep');
const dropped = Symbol('dropped');

/** A copy with all parts before one. */
const copyBefore = (source: Container, keys: readonly string[], end: number): Container => {
  if (Array.isArray(source)) return source.slice(0, end);
  const copy: Row = {};
  for (let at = 0; at < end; at += 1) {
    const key = keys[at] as string;
    putPart(copy, key, source[key]);
  }
  return copy;
};

/** What is kept of a value at a position. */
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

/** Whether a value that is no list or object is not what its field may hold. */
const isBreach = (slug: string, policy: FieldPolicy, value: unknown): boolean => {
  if (policy.mode === 'preserve' || value === null) return false;
  return policy.mode === 'hash' ? !isDigest(value) : redactScalar(slug, policy, value) !== value;
};

/** Whether a row must be looked at closely, because something in it may not be let through. */
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
      // What an object in a redacted field holds is for the close look to judge.
      if (policy !== undefined && !Array.isArray(value)) return true;
      if (isSuspect(rules, value, position, level + 1)) return true;
    } else if (policy !== undefined && isBreach(rules.slug, policy, value)) return true;
  }
  return false;
};

/** A policy as people read it: `hash`, `round:2`. */
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

/** The redaction of a policy; without one every row stays as it is. */
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
