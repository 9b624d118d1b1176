/**
 * Which field of a row a policy means. A bare name matches a key at any depth; a dotted path matches
 * one place, counted from the row, where `*` stands for every item of a list. No path means a single
 * item: once one is dropped, the next would stand in its place. Where a name and a path both match,
 * drop comes first, then hash, then preserve, then round.
 *
 * A position is what is known of a place while walking towards it: how far the paths have come, and
 * what applies there. The work at a place is the same however large the row or the policy.
 */
import type { RedactPolicy, Row } from '../contract.ts';

/** What a policy does to a field. `decimals` is the number of those kept. */
export type FieldPolicy =
  | { mode: 'drop' | 'hash' | 'preserve' }
  | { mode: 'round'; decimals: number };

/** A segment of the paths that begin alike. */
type Step = { policy: FieldPolicy | undefined; next: Map<string, Step> };

export type Rules = {
  readonly slug: string;
  readonly names: ReadonlyMap<string, FieldPolicy>;
  readonly paths: Step;
};

/** `step` is undefined where no path leads. */
export type Position = { step: Step | undefined; policy: FieldPolicy | undefined };

const precedence = ['drop', 'hash', 'preserve', 'round'] as const;

const rankOf = ({ mode }: FieldPolicy): number => precedence.indexOf(mode);

/** The policy that prevails where two could match. */
export const strongest = (
  one: FieldPolicy | undefined,
  other: FieldPolicy | undefined,
): FieldPolicy | undefined => {
  if (one === undefined || other === undefined) return one ?? other;
  return rankOf(other) < rankOf(one) ? other : one;
};

const addPath = (paths: Step, path: string, policy: FieldPolicy): void => {
  let step = paths;
  for (const segment of path.split('.')) {
    const next = step.next.get(segment) ?? { policy: undefined, next: new Map() };
    step.next.set(segment, next);
    step = next;
  }
  step.policy = strongest(step.policy, policy);
};

const toRules = (policy: RedactPolicy): Rules => {
  const names = new Map<string, FieldPolicy>();
  const paths: Step = { policy: undefined, next: new Map() };
  const add = (name: string, of: FieldPolicy): void => {
    if (name.includes('.')) addPath(paths, name, of);
    else names.set(name, strongest(names.get(name), of) ?? of);
  };
  for (const mode of ['drop', 'hash', 'preserve'] as const) {
    for (const name of policy[mode]) add(name, { mode });
  }
  for (const [name, decimals] of Object.entries(policy.round))
    add(name, { mode: 'round', decimals });
  return { slug: policy.slug, names, paths };
};

const known = new WeakMap<RedactPolicy, Rules>();

/** The rules of a policy. They are kept with it, because a policy is asked about row after row. */
export const rulesOf = (policy: RedactPolicy): Rules => {
  const rules = known.get(policy) ?? toRules(policy);
  known.set(policy, rules);
  return rules;
};

/** The row as a whole. */
export const rowPosition = ({ paths }: Rules): Position => ({ step: paths, policy: undefined });

/** Below an object: the value of one of its keys. */
export const enterKey = ({ names }: Rules, { step: from }: Position, key: string): Position => {
  const step = from?.next.get(key);
  return { step, policy: strongest(names.get(key), step?.policy) };
};

/** Below a list: any of its items. A list that is hashed or preserved hands that on to them. */
export const enterItem = ({ step: from, policy: around }: Position): Position => {
  const step = from?.next.get('*');
  const isHandedOn = around?.mode === 'hash' || around?.mode === 'preserve';
  return { step, policy: strongest(isHandedOn ? around : undefined, step?.policy) };
};

// The lists and objects of a row, one level at a time: walkers keep a list of what is left to do
// instead of recursing, because how deep a row nests is a stranger's choice.

export type Container = unknown[] | Row;

/** A value in a list or object, with its key or index and what applies to it. */
type Part = { key: string; value: unknown; position: Position };

export const isContainer = (value: unknown): value is Container =>
  typeof value === 'object' && value !== null;

/** What a list or object holds, in order, own keys only. */
export const partsOf = (rules: Rules, container: Container, at: Position): Part[] => {
  if (!Array.isArray(container)) {
    return Object.entries(container).map(([key, value]) => {
      return { key, value, position: enterKey(rules, at, key) };
    });
  }
  const position = enterItem(at);
  return container.map((value: unknown, index) => ({ key: String(index), value, position }));
};

export const emptyLike = (container: Container): Container => (Array.isArray(container) ? [] : {});

/** Adds a part to a copy. A key that objects inherit, `__proto__`, becomes a key like any other. */
export const putPart = (copy: Container, key: string, value: unknown): void => {
  if (Array.isArray(copy)) copy.push(value);
  else if (key !== '__proto__') copy[key] = value;
  else {
    const asOthers = { enumerable: true, configurable: true, writable: true };
    Object.defineProperty(copy, key, { value, ...asOthers });
  }
};
