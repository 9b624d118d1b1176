/**
 * Rewrites a JSON text for a changed value, and preserves the text of everything unchanged: the order of keys, spaces
 * and line breaks, the spelling of numbers. New values get the layout of their neighbours.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Node, parseTree } from 'jsonc-parser';
import { isTable, type Table } from '../read/values.ts';
import { type JsonStyle, maxColumns, printJson, styleOf } from './json-style.ts';

type Source = { text: string; style: JsonStyle };

/** A member of an object or a list: its new text, and its node in the old text; undefined if it is new. */
type Member = { old: Node | undefined; text: string };

const textOf = ({ text }: Source, from: number, to: number): string => text.slice(from, to);

const endOf = (node: Node): number => node.offset + node.length;

/** Returns the spaces at the beginning of the line that contains an offset. */
const indentAt = ({ text }: Source, offset: number): string => {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
};

const columnOf = ({ text }: Source, offset: number): number =>
  offset - text.lastIndexOf('\n', offset - 1) - 1;

/** Text between the members of a container. */
type Gaps = {
  /** Text between the preceding comma and each old member. */
  before: ReadonlyMap<Node, string>;
  /** Text between each old member and the comma after it. */
  after: ReadonlyMap<Node, string>;
  first: string;
  /** Text before a new member, unless the new member is the first. */
  next: string;
  /** Text before the closing bracket. */
  last: string;
};

const gapsOf = (source: Source, node: Node): Gaps => {
  const members = node.children ?? [];
  const before = new Map<Node, string>();
  const after = new Map<Node, string>();
  for (const [index, member] of members.entries()) {
    const previous = members[index - 1];
    const gap = textOf(source, previous ? endOf(previous) : node.offset + 1, member.offset);
    const comma = gap.indexOf(',');
    before.set(member, gap.slice(comma + 1));
    if (previous !== undefined) after.set(previous, gap.slice(0, comma));
  }
  const end = members.at(-1);
  const [first, second] = members;
  const firstGap = (first && before.get(first)) ?? '';
  const own = `${source.style.eol}${indentAt(source, first?.offset ?? 0)}`;
  const lone = source.style.colon === ':' ? '' : ' ';
  const secondGap = (second && before.get(second)) ?? lone;
  const isBroken = firstGap.includes('\n');
  return {
    before,
    after,
    first: firstGap,
    next: isBroken ? own : secondGap,
    last: textOf(source, end ? endOf(end) : node.offset + 1, endOf(node) - 1),
  };
};

/** Joins the members; old members keep their gaps, new members get the gaps of their neighbours. */
const joinMembers = (gaps: Gaps, members: readonly Member[]): string =>
  members
    .map(({ old, text }, index) => {
      const own = old && gaps.before.get(old);
      const isLast = index === members.length - 1;
      const trailed = isLast ? text : text + ((old && gaps.after.get(old)) ?? '');
      if (own?.includes('\n')) return own + trailed;
      if (index === 0) return gaps.first + trailed;
      return (own === undefined || own === gaps.first ? gaps.next : own) + trailed;
    })
    .join(',');

const emitContainer = (
  source: Source,
  node: Node,
  value: object,
  members: readonly Member[],
): string => {
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const gaps = gapsOf(source, node);
  const emitted = `${open}${joinMembers(gaps, members)}${gaps.last}${close}`;
  const kept = textOf(source, node.offset, endOf(node));
  if (emitted === kept || kept.includes('\n') || source.style.isOneLine) return emitted;
  const isTooLong = columnOf(source, node.offset) + emitted.length >= maxColumns;
  return isTooLong || emitted.includes('\n') ? printWhole(source, node, value) : emitted;
};

const printMember = (source: Source, node: Node, name: string, value: unknown): string => {
  const [first] = node.children ?? [];
  const at = first?.offset ?? node.offset;
  const column = columnOf(source, at) + name.length;
  return name + printJson(value, source.style, indentAt(source, at), column);
};

/** Rewrites an object. A new member is placed after the member that precedes it in `value`. */
const emitObject = (source: Source, node: Node, value: Table): string => {
  const old = new Map(
    (node.children ?? []).map((member): [string, Node] => [member.children?.[0]?.value, member]),
  );
  if (old.size === 0 || ![...old.keys()].some((key) => Object.hasOwn(value, key))) {
    return printWhole(source, node, value);
  }
  const members: (Member & { key: string })[] = [];
  for (const [key, member] of old) {
    if (!Object.hasOwn(value, key)) continue;
    const [, held] = member.children ?? [];
    if (held === undefined) continue;
    const head = textOf(source, member.offset, held.offset);
    members.push({ key, old: member, text: head + emit(source, held, value[key]) });
  }
  let follows: string | undefined;
  for (const [key, item] of Object.entries(value)) {
    if (!old.has(key)) {
      const name = `${JSON.stringify(key)}${source.style.colon}`;
      const at = members.findIndex((member) => member.key === follows) + 1;
      const text = printMember(source, node, name, item);
      members.splice(at, 0, { key, old: undefined, text });
    }
    follows = key;
  }
  return emitContainer(source, node, value, members);
};

const isContainer = (value: unknown): boolean => typeof value === 'object' && value !== null;

const jsonOf = ({ text }: Source, node: Node): unknown =>
  JSON.parse(text.slice(node.offset, endOf(node)));

/**
 * Rewrites a list. Items that are still in `value` stay in their order. An object or list that has changed and stays at
 * the same index is rewritten.
 */
const emitList = (source: Source, node: Node, value: readonly unknown[]): string => {
  const olds = (node.children ?? []).map((child) => ({ child, value: jsonOf(source, child) }));
  if (olds.length === 0 || value.length === 0) return printWhole(source, node, value);
  const members: Member[] = [];
  let from = 0;
  for (const item of value) {
    const at = olds.findIndex((old, index) => index >= from && isDeepStrictEqual(old.value, item));
    const same = olds[at];
    const next = olds[from];
    if (same !== undefined) {
      const { child } = same;
      members.push({ old: child, text: textOf(source, child.offset, endOf(child)) });
      from = at + 1;
    } else if (next !== undefined && isContainer(next.value) && isContainer(item)) {
      members.push({ old: next.child, text: emit(source, next.child, item) });
      from += 1;
    } else {
      members.push({ old: undefined, text: printMember(source, node, '', item) });
    }
  }
  return emitContainer(source, node, [...value], members);
};

const printWhole = (source: Source, node: Node, value: unknown): string =>
  printJson(value, source.style, indentAt(source, node.offset), columnOf(source, node.offset));

const emit = (source: Source, node: Node, value: unknown): string => {
  const kept = textOf(source, node.offset, endOf(node));
  if (node.type === 'object' && isTable(value)) return emitObject(source, node, value);
  if (node.type === 'array' && Array.isArray(value)) return emitList(source, node, value);
  const isKept = !isContainer(value) && !node.children && node.value === value;
  return isKept ? kept : printWhole(source, node, value);
};

/**
 * Returns the text rewritten for another value. `text` must be valid JSON without repeated keys that nests no deeper
 * than the language allows. Remaining keys keep their order; a new key follows the key that precedes it in `value`.
 */
export const rewriteJson = (text: string, value: unknown): string => {
  const root = parseTree(text, [], { disallowComments: true });
  if (root === undefined) throw new Error('rewriteJson needs a JSON text');
  const source = { text, style: styleOf(text, root) };
  const head = textOf(source, 0, root.offset);
  return head + emit(source, root, value) + textOf(source, endOf(root), text.length);
};
