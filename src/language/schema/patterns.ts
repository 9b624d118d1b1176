/**
 * Regular expressions of user schemas. They run on RE2, in time linear in the text, whatever the
 * author wrote; look-around and back-references do not exist there and are refused.
 */
import { RE2JS } from 're2js';
import { languageLimits } from '../limits.ts';
import { translatePattern } from './translate-pattern.ts';

/** A compiled pattern, in the form that the validator wants one. */
export type Pattern = {
  /** Whether the pattern is found anywhere in the text. */
  test(text: string): boolean;
  toString(): string;
};

/** Compiles a pattern in ECMAScript's notation. Throws, saying why, when RE2 cannot. */
export const compilePattern = (source: string): Pattern => {
  if (source.length > languageLimits.patternLength) {
    throw new Error(`it is longer than ${languageLimits.patternLength} characters`);
  }
  const compiled = RE2JS.compile(translatePattern(source));
  return { test: (text) => compiled.test(text), toString: () => source };
};

/** Why a pattern cannot be used, or undefined. */
export const patternFault = (source: string): string | undefined => {
  try {
    compilePattern(source);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};
