/**
 * Records changes of schemas. Each change is reported once with its reasons. The values before and after are compared
 * at the end, so that later changes of the same place are included. If a place changed as a whole, changes inside it
 * are not reported separately.
 */
import { isDeepStrictEqual } from 'node:util';
import { toPointer } from '#domain/json.ts';
import { valueAtPath } from '../../field-path.ts';
import { worldFile } from '../../files/world-json.ts';
import type { Change } from '../change.ts';
import type { Documents, Path } from './documents.ts';

export type ChangeLog = {
  /** Records that the value at a path is added, changed or removed, and why. */
  note(file: string, path: Path, reason: string): void;
  /** Returns all changes, in the order in which they were first recorded. */
  list(): Change[];
};

type Entry = { file: string; path: Path; reasons: Set<string> };

const maxReasons = 5;

const valueAt = (value: unknown, path: Path): unknown => valueAtPath(value, path.map(String));

const join = (reasons: ReadonlySet<string>): string => {
  const shown = [...reasons].slice(0, maxReasons).join('; ');
  const more = reasons.size - maxReasons;
  return more > 0 ? `${shown}; and ${more} more` : shown;
};

/** Returns the entries whose places are in no other entry's place, with the reasons of the entries inside them. */
const outermost = (entries: ReadonlyMap<string, Entry>): Entry[] => {
  const outer = new Map<string, Entry>();
  const keyOf = (file: string, path: Path): string => file + toPointer(path);
  for (const { file, path, reasons } of entries.values()) {
    const lengths = path.map((_, length) => length).slice(1);
    const around = lengths.find((length) => entries.has(keyOf(file, path.slice(0, length))));
    const at = around === undefined ? path : path.slice(0, around);
    const known = outer.get(keyOf(file, at)) ?? { file, path: at, reasons: new Set<string>() };
    for (const reason of reasons) known.reasons.add(reason);
    outer.set(keyOf(file, at), known);
  }
  return [...outer.values()];
};

/** Creates a log of changes of the documents; it copies their present values for the comparison. */
export const createChangeLog = (documents: Documents): ChangeLog => {
  const originals = structuredClone(documents.values);
  const entries = new Map<string, Entry>();

  const shared = (file: string, path: Path): string => {
    const [defs, name] = path;
    if (defs !== '$defs' || typeof name !== 'string') return '';
    const count = documents.referenceCount(file, name);
    const place = file === worldFile ? name : `${name} of ${file}`;
    return count > 1 ? ` (${place} is shared: ${count} places refer to it)` : '';
  };

  const toChange = ({ file, path, reasons }: Entry): Change[] => {
    const before = valueAt(originals.get(file), path);
    const after = structuredClone(valueAt(documents.values.get(file), path));
    if (isDeepStrictEqual(before, after)) return [];
    const change = { file, pointer: toPointer(path), reason: join(reasons) + shared(file, path) };
    if (before === undefined) return [{ ...change, kind: 'added', after }];
    if (after === undefined) return [{ ...change, kind: 'removed', before }];
    return [{ ...change, kind: 'changed', before, after }];
  };

  return {
    note(file, path, reason) {
      const key = file + toPointer(path);
      const entry = entries.get(key) ?? { file, path, reasons: new Set<string>() };
      entry.reasons.add(reason);
      entries.set(key, entry);
    },
    list: () => outermost(entries).flatMap(toChange),
  };
};
