/**
 * Regular expressions of user schemas. They run on RE2, in time linear in the text, whatever the
 * author wrote; look-around and back-references do not exist there and are refused.
 */
import { RE2JS } from 're2js';
import { languageLimits } from '../limits.ts';
import { isPlainPattern } from './plain-pattern.ts';
import { stepsOfText } from './steps.ts';
import { translatePattern } from './translate-pattern.ts';

// How large the program is that a pattern compiles to, told from its text before it is compiled. Running
// it takes time in proportion to that size and the length of the text; counted repeats multiply it.

const token =
  /\\(?:[xpP]\{[^}]*\}|[\s\S])|\[(?:\\(?:[xpP]\{[^}]*\}|[\s\S])|[^\]\\])*\]|\((?:\?(?:<[^>]*>|[a-z-]*:))?|\)|\{(\d+)(?:,(\d*))?\}|[^\\[(){}]/gu;

/** The size of a pattern in RE2's notation: characters and operators, each as often as it is repeated. */
export const patternSize = (pattern: string): number => {
  const open: number[] = [];
  let total = 0;
  /** Size of what a repeat would apply to. */
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

/** A compiled pattern, in the form that the validator wants one. */
export type Pattern = {
  /** Whether the pattern is found anywhere in the text. */
  test(text: string): boolean;
  toString(): string;
  /** Instructions of the compiled program. */
  size: number;
};

/** A pattern's program may be read as a whole for each character, but seldom is. */
export const patternSteps = ({ size }: Pattern, text: string): number =>
  stepsOfText(text) + Math.ceil((size * text.length) / 2);

/** The language's own engine notes each step of a repeat, so a long text is not for it. */
const mostPlain = 10_000;

/** Compiles a pattern in ECMAScript's notation. Throws, saying why, when RE2 cannot. */
export const compilePattern = (source: string): Pattern => {
  if (source.length > languageLimits.patternLength) {
    throw new Error(`it is longer than ${languageLimits.patternLength} characters`);
  }
  const translated = translatePattern(source);
  const size = patternSize(translated);
  if (size > languageLimits.patternSize) {
    const most = languageLimits.patternSize;
    throw new Error(`with its repeats it is ${size} characters, more than ${most}`);
  }
  const compiled = RE2JS.compile(translated);
  let plain: RegExp | null | undefined; // looked for with the first text: many patterns are only judged
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

/** What checking a pattern found: its size, or why it cannot be used. */
export type JudgedPattern = { size: number; fault?: never } | { fault: string; size?: never };

/** Judges a pattern by compiling it. */
export const judgePattern = (source: string): JudgedPattern => {
  try {
    return { size: compilePattern(source).size };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
};
