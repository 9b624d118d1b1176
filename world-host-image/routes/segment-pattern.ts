/**
 * A segment of a route's path that holds arguments among texts, such as `{id}.json`. Each argument takes
 * at least one character and, but for what the text after it decides, as few as it can. Looking for the
 * texts from left to right finds the one way to read a segment in time linear in its length, which a
 * pattern with several wildcards would not.
 */
import type { PathPart } from '#language/contract.ts';

export type SegmentPattern = {
  /** Equal for patterns that differ by nothing but the names of their arguments. */
  shape: string;
  /** Characters of its texts: the more, the more specific it is. */
  textLength: number;
  /** What its arguments are in a segment; undefined when the segment does not fit. */
  read(segment: string): string[] | undefined;
};

/** The texts around the arguments; those at the ends may be empty. `decode` undoes their escapes. */
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
