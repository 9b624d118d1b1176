/** What of one value does not fit one schema, told keyword by keyword. */
import { own } from '#domain/json.ts';
import { isTable } from '../../read/values.ts';
import type { JsonType } from '../../schema/analysis.ts';
import { equalityText } from '../../schema/equality.ts';
import type { Documents, Located, Node } from './documents.ts';
import { type Count, counted, type Findings, type RowSource } from './findings.ts';
import { brokenKeywords } from './keyword-faults.ts';
import { createSeen, type FieldBudget, type Seen, see, typeOfValue } from './seen.ts';

/** What observing goes by: the schemas as they are now, and what was found so far. */
export type Watch = {
  documents: Documents;
  findings: Map<Node, Findings>;
  /** The types that a schema lets values have. */
  typesOf(located: Located): ReadonlySet<JsonType>;
  /** Whether a value fits a part of a schema; the part has a name of its own within its owner. */
  fits(owner: Node, name: string, part: () => Located, value: unknown): boolean;
  /** Shared by all that is seen for new shapes. */
  budget: FieldBudget;
  /** Schemas held against values so far. */
  steps: number;
};

/** A schema that is no boolean, with its file. */
export type LocatedNode = { file: string; node: Node };

/** Values outside of `enum` that are told one by one; more are a sign that it lists too little. */
export const maxUnlisted = 100;

/** Keywords that need a validator to be judged, each with those that it is judged together with. */
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

/** One more value among those that something was found of. */
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
    // What is wrong otherwise is seen to first: only then does the keyword decide.
    const isRestFine = fits(`without ${keyword}`, (name) => name !== keyword);
    if (isRestFine && !fits('whole', () => true)) broken.push(keyword);
  }
  for (const keyword of broken) noteBroken(found, keyword, value, source);
};

/** How much an object looks as if it were meant for a branch: by its fields, constant ones most. */
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
