/**
 * Matches the fields of a row against a policy. A bare name matches a key at any depth. A dotted path matches one
 * place, counted from the row, where `*` means every item of a list. No path names a single item: if it were dropped,
 * the next item would take its index. If a name and a path both match, the strictest mode applies: drop, then hash,
 * then preserve, then round.
 *
 * A position is the state of the walk at a place: the matched prefixes of the paths, and the policy there. The work at
 * a place is the same however large the row or the policy.
 */
import type { RedactPolicy, Row } from '../contract.ts';

/** Policy of a field. `decimals` is the number of decimals that stay in a rounded number. */
export type FieldPolicy =
  | { mode: 'drop' | 'hash' | 'preserve' }
  | { mode: 'round'; decimals: number };

/** Node of the tree of paths; its children are the next segments of the paths. */
type Step = { policy: FieldPolicy | undefined; next: Map<string, Step> };

export type Rules = {
  readonly slug: string;
  readonly names: ReadonlyMap<string, FieldPolicy>;
  readonly paths: Step;
};

/** Position of the walk through a row; `step` is undefined if no path of the policy continues there. */
export type Position = { step: Step | undefined; policy: FieldPolicy | undefined };

const precedence = ['drop', 'hash', 'preserve', 'round'] as const;

const rankOf = ({ mode }: FieldPolicy): number => precedence.indexOf(mode);

/** Returns which of two matching policies applies. */
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

/** Returns the rules of a policy. They are cached by policy, because they are used for row after row. */
export const rulesOf = (policy: RedactPolicy): Rules => {
  const rules = known.get(policy) ?? toRules(policy);
  known.set(policy, rules);
  return rules;
};

/** Returns the position at the row itself, where the walk begins. */
export const rowPosition = ({ paths }: Rules): Position => ({ step: paths, policy: undefined });

/** Returns the position at a key of an object. */
export const enterKey = ({ names }: Rules, { step: from }: Position, key: string): Position => {
  const step = from?.next.get(key);
  return { step, policy: strongest(names.get(key), step?.policy) };
};

/**
 * Returns the position at the items of a list. A list that is hashed or preserved passes its policy on to its items.
 */
export const enterItem = ({ step: from, policy: around }: Position): Position => {
  const step = from?.next.get('*');
  const isHandedOn = around?.mode === 'hash' || around?.mode === 'preserve';
  return { step, policy: strongest(isHandedOn ? around : undefined, step?.policy) };
};

// Lists and objects of a row are walked with a work list instead of recursion, because the client chooses how deep a
// row nests.

export type Container = unknown[] | Row;

/** A value in a list or object, with its key or index, and its position in the walk. */
type Part = { key: string; value: unknown; position: Position };

export const isContainer = (value: unknown): value is Container =>
  typeof value === 'object' && value !== null;

/** Returns the values of a list or object, in order, own keys only. */
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

/** Adds a value to a copy. The inherited key `__proto__` becomes an ordinary own key. */
export const putPart = (copy: Container, key: string, value: unknown): void => {
  if (Array.isArray(copy)) copy.push(value);
  else if (key !== '__proto__') copy[key] = value;
  else {
    const asOthers = { enumerable: true, configurable: true, writable: true };
    Object.defineProperty(copy, key, { value, ...asOthers });
  }
};
