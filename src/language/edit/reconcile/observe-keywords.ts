/** Compares one value with one schema and records each keyword that it violates. */
import { own } from '#domain/json.ts';
import { isTable } from '../../read/values.ts';
import type { JsonType } from '../../schema/analysis.ts';
import { equalityText } from '../../schema/equality.ts';
import type { Documents, Located, Node } from './documents.ts';
import { type Count, counted, type Findings, type RowSource } from './findings.ts';
import { brokenKeywords } from './keyword-faults.ts';
import { createSeen, type FieldBudget, type Seen, see, typeOfValue } from './seen.ts';

/** State of an observation: the present schemas, and the findings made until now. */
export type Watch = {
  documents: Documents;
  findings: Map<Node, Findings>;
  /** Returns the types that a schema allows. */
  typesOf(located: Located): ReadonlySet<JsonType>;
  /** Returns true if a value fits a part of a schema. `name` distinguishes the parts of the same `owner`. */
  fits(owner: Node, name: string, part: () => Located, value: unknown): boolean;
  /** Budget for new fields, which all findings share. */
  budget: FieldBudget;
  /** Number of comparisons of a schema with a value until now. */
  steps: number;
};

/** A schema that is an object, with the file that contains it. */
export type LocatedNode = { file: string; node: Node };

/**
 * Maximum number of recorded values outside an `enum`. If there are more, the `enum` is not extended by them but
 * removed.
 */
export const maxUnlisted = 100;

/** Keywords that only a validator can evaluate, each with the keywords that must be evaluated together with it. */
const judged: Readonly<Record<string, readonly string[]>> = {
  not: ['not'],
  if: ['if', 'then', 'else'],
  contains: ['contains', 'minContains', 'maxContains'],
  propertyNames: ['propertyNames'],
  dependentSchemas: ['dependentSchemas'],
};
const unevaluated = ['unevaluatedProperties', 'unevaluatedItems'];

export const listIn = (held: unknown): readonly unknown[] => (Array.isArray(held) ? held : []);

const pick = (node: Node, accepts: (keyword: string) => boolean): Node =>
  Object.fromEntries(Object.entries(node).filter(([keyword]) => accepts(keyword)));

/** Adds a value to the values for which the same finding was made. */
export const noteSeen = (
  known: (Count & { seen: Seen }) | undefined,
  value: unknown,
  source: RowSource,
  { budget }: Pick<Watch, 'budget'>,
): Count & { seen: Seen } => {
  const seen = known?.seen ?? createSeen(budget);
  see(seen, value);
  return { ...counted(known, source), seen };
};

export const noteBroken = (
  found: Findings,
  keyword: string,
  value: unknown,
  source: RowSource,
): void => {
  const known = found.broken.get(keyword);
  const lowest =
    keyword === 'minimum' && known ? Math.min(Number(known.value), Number(value)) : value;
  found.broken.set(keyword, { ...counted(known, source), value: lowest });
};

export const observeType = (
  node: Node,
  found: Findings,
  value: unknown,
  source: RowSource,
  watch: Watch,
): void => {
  const type = typeOfValue(value);
  const known = found.types.get(type);
  const captured = (known?.captured ?? 0) + (source.isCaptured ? 1 : 0);
  found.types.set(type, { ...counted(known, source), captured });
  if (node.type === undefined || !source.isCaptured) return;
  const declared = listIn(Array.isArray(node.type) ? node.type : [node.type]);
  const isDeclared = declared.includes(type) || (type === 'integer' && declared.includes('number'));
  if (!isDeclared) found.widened = noteSeen(found.widened, value, source, watch);
};

export const observeListed = (
  node: Node,
  found: Findings,
  value: unknown,
  source: RowSource,
): void => {
  const lists = [
    ...(Array.isArray(node.enum) ? [node.enum] : []),
    ...(Object.hasOwn(node, 'const') ? [[node.const]] : []),
  ];
  if (lists.length === 0 || found.unlisted.size > maxUnlisted) return;
  const text = equalityText(value);
  if (lists.every((values) => values.some((each) => equalityText(each) === text))) return;
  found.unlisted.set(text, { ...counted(found.unlisted.get(text), source), value });
};

export const observeKeywords = (
  { file, node }: LocatedNode,
  found: Findings,
  value: unknown,
  source: RowSource,
  watch: Watch,
): void => {
  const fits = (name: string, accepts: (keyword: string) => boolean): boolean =>
    watch.fits(node, name, () => ({ file, node: pick(node, accepts) }), value);
  const broken = brokenKeywords(node, value);
  for (const [keyword, together] of Object.entries(judged)) {
    if (!Object.hasOwn(node, keyword)) continue;
    if (!fits(keyword, (name) => together.includes(name))) broken.push(keyword);
  }
  for (const keyword of unevaluated) {
    if (!Object.hasOwn(node, keyword)) continue;
    // Other faults are handled first: the keyword counts only if everything else fits.
    const isRestFine = fits(`without ${keyword}`, (name) => name !== keyword);
    if (isRestFine && !fits('whole', () => true)) broken.push(keyword);
  }
  for (const keyword of broken) noteBroken(found, keyword, value, source);
};

/**
 * Returns how well an object matches a branch: the number of fields that both have, where fields with a matching
 * constant count most.
 */
export const likeness = (branch: unknown, value: unknown): number => {
  const properties = isTable(branch) ? own(branch, 'properties') : undefined;
  if (!isTable(properties) || !isTable(value)) return 0;
  return Object.entries(value).reduce((score, [name, held]) => {
    const property = own(properties, name);
    if (property === undefined) return score;
    if (!isTable(property) || !Object.hasOwn(property, 'const')) return score + 1;
    return score + (equalityText(property.const) === equalityText(held) ? 100 : -100);
  }, 0);
};
