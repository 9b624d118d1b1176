/**
 * Regular expressions of user schemas. They run on RE2, in time linear in the text, whatever the author wrote. RE2 has
 * no look-around and no back-references, so patterns with these are refused.
 */
import { RE2JS } from 're2js';
import { languageLimits } from '../limits.ts';
import { isPlainPattern } from './plain-pattern.ts';
import { stepsOfText } from './steps.ts';
import { translatePattern } from './translate-pattern.ts';

// Estimates the size of the program of a pattern from its text, before it is compiled. Running it takes time
// proportional to that size and the length of the text; counted repeats multiply it.

const token =
  /\\(?:[xpP]\{[^}]*\}|[\s\S])|\[(?:\\(?:[xpP]\{[^}]*\}|[\s\S])|[^\]\\])*\]|\((?:\?(?:<[^>]*>|[a-z-]*:))?|\)|\{(\d+)(?:,(\d*))?\}|[^\\[(){}]/gu;

/** Returns the size of a pattern in RE2's notation: characters and operators, each multiplied by its repetitions. */
export const patternSize = (pattern: string): number => {
  const open: number[] = [];
  let total = 0;
  /** Size of the operand to which a following repetition applies. */
  let last = 0;
  for (const [text, least, most] of pattern.matchAll(token)) {
    if (text.startsWith('(')) {
      open.push(total);
      total = 0;
    } else if (text === ')') {
      last = total + 2;
      total = (open.pop() ?? 0) + last;
    } else if (least !== undefined) {
      const times = Math.max(Number(least), Number(most ?? least), 1);
      total += last * (times - 1);
      last *= times;
    } else {
      last = /^[*+?|]$/.test(text) ? last : 1;
      total += 1;
    }
  }
  return open.reduce((sum, before) => sum + before, total);
};

/** A compiled pattern, in the form that the validator needs. */
export type Pattern = {
  /** Returns true if the pattern matches anywhere in the text. */
  test(text: string): boolean;
  toString(): string;
  /** Number of instructions of the compiled program. */
  size: number;
};

/**
 * Returns the number of steps of matching a text. The whole program may run for each character, but seldom does, so
 * half of it is counted.
 */
export const patternSteps = ({ size }: Pattern, text: string): number =>
  stepsOfText(text) + Math.ceil((size * text.length) / 2);

/**
 * Maximum length of a text that the JavaScript engine matches, because it keeps each step of a repetition in memory.
 */
const mostPlain = 10_000;

/** Compiles a pattern in ECMAScript's notation. Throws with the reason if RE2 cannot compile it. */
export const compilePattern = (source: string): Pattern => {
  if (source.length > languageLimits.patternLength) {
    throw new Error(`the pattern is longer than ${languageLimits.patternLength} characters`);
  }
  const translated = translatePattern(source);
  const size = patternSize(translated);
  if (size > languageLimits.patternSize) {
    const most = languageLimits.patternSize;
    throw new Error(
      `with repetitions counted, the pattern has ${size} characters, more than ${most}`,
    );
  }
  const compiled = RE2JS.compile(translated);
  let plain: RegExp | null | undefined; // set on first use: many patterns are only checked
  return {
    test(text) {
      if (text.length > mostPlain) return compiled.test(text);
      if (plain === undefined) plain = isPlainPattern(source) ? new RegExp(source, 'u') : null;
      return (plain ?? compiled).test(text);
    },
    toString: () => source,
    size: compiled.programSize(),
  };
};

/** Result of checking a pattern: the pattern's size, or the reason why it cannot be used. */
export type JudgedPattern = { size: number; fault?: never } | { fault: string; size?: never };

/** Checks a pattern by compiling it. */
export const judgePattern = (source: string): JudgedPattern => {
  try {
    return { size: compilePattern(source).size };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
};
