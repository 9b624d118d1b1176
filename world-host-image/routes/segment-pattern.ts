/**
 * Pattern for a path segment that mixes arguments and text, such as `{id}.json`. Each argument matches at least one
 * character, and as few as the text after it allows. The segment is read by searching for the texts from left to right,
 * which takes time linear in its length. A regular expression with several wildcards could take much longer.
 */
import type { PathPart } from '#language/contract.ts';

export type SegmentPattern = {
  /** Key that is equal for patterns that differ only in the names of their arguments. */
  shape: string;
  /** Number of characters in the pattern's texts. A pattern with more is more specific. */
  textLength: number;
  /** Returns the values of the arguments in a segment; undefined if the segment does not match. */
  read(segment: string): string[] | undefined;
};

/** Returns the texts around the arguments, unescaped by `decode`. The first and last may be empty. */
const textsOf = (parts: readonly PathPart[], decode: (text: string) => string): string[] => {
  const texts = [''];
  for (const part of parts) {
    if ('argument' in part) texts.push('');
    else texts[texts.length - 1] = decode(part.literal);
  }
  return texts;
};

const readBetween = (segment: string, texts: readonly string[]): string[] | undefined => {
  const [first = '', ...others] = texts;
  const last = others.pop() ?? '';
  const end = segment.length - last.length;
  if (!segment.startsWith(first) || !segment.endsWith(last)) return undefined;
  const found: string[] = [];
  let start = first.length;
  for (const text of others) {
    const at = segment.indexOf(text, start + 1);
    if (at === -1 || at + text.length > end) return undefined;
    found.push(segment.slice(start, at));
    start = at + text.length;
  }
  return start < end ? [...found, segment.slice(start, end)] : undefined;
};

export const segmentPattern = (
  parts: readonly PathPart[],
  decode: (text: string) => string,
): SegmentPattern => {
  const texts = textsOf(parts, decode);
  return {
    shape: JSON.stringify(texts),
    textLength: texts.join('').length,
    read: (segment) => readBetween(segment, texts),
  };
};
