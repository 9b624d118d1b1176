/**
 * Builds the outline of a JSON text along the requested pointers, and skips everything else. So one refused row of a
 * large file costs one pass over the text and hardly any memory. If a key is repeated in an object, the last occurrence
 * counts, as for `JSON.parse`.
 */
import { eachMember, endOfValue, skipBlanks } from './json-text.ts';
import type { Outline, Wanted } from './positions.ts';

const outlineValue = (text: string, start: number, wanted: Wanted): Outline => {
  const parts = new Map<string, Outline>();
  if (wanted.size === 0) return { value: { start, end: endOfValue(text, start) }, parts };
  const end = eachMember(text, start, (member) => {
    const name = String(member.name);
    const inner = wanted.get(name);
    if (inner === undefined) return endOfValue(text, member.start);
    const part = outlineValue(text, member.start, inner);
    parts.set(name, member.key === undefined ? part : { ...part, key: member.key });
    return part.value.end;
  });
  return { value: { start, end }, parts };
};

/** Returns the outline of a valid JSON text along the requested pointers. */
export const outlineJson = (text: string, wanted: Wanted): Outline =>
  outlineValue(text, skipBlanks(text, 0), wanted);
