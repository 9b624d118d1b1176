/**
 * Facts that a check reads from user code without running the code: its faults, and the modules, entities and context
 * members that it names. They have the same form for Python and TypeScript.
 */
import type { ProblemCode } from '../read/codes.ts';
import type { Position } from '../read/positions.ts';

/** A fault in one file; `code` is the rule of the language that the file breaks. */
export type CodeFault = Position & { code: ProblemCode; message: string; hint?: string };

/** A name with its position in the file. */
export type NamedAt = Position & { name: string };

/** A module without which the code cannot run, and the names that the code imports from it. */
export type Import = NamedAt & { takes: readonly NamedAt[] };

/** Kind of the context that a function gets as an argument: a handler's or a grader's. */
export type ContextKind = 'handler' | 'verify';

/** A member of a context that the code uses, with the kind of the context. */
export type MemberUse = NamedAt & { context: ContextKind };

export type CodeReading = {
  /** Faults of the file. A file with a syntax error has no other facts. */
  faults: readonly CodeFault[];
  imports: readonly Import[];
  /** Entities whose names are passed to functions of the store as literals. */
  entities: readonly NamedAt[];
  members: readonly MemberUse[];
  /** Members that the code itself adds to a context. */
  adds: ReadonlySet<string>;
  /** Names that other files may import; undefined if they are known only at run time. */
  offers: ReadonlySet<string> | undefined;
};

/** Options of reading a file. */
export type ReadingOptions = {
  /** Kind of context that is assumed for a parameter `ctx` without a type; undefined if the kind is unknown. */
  context: ContextKind | undefined;
};

/** Returns the reading of a file that cannot be parsed. */
export const unreadable = (faults: readonly CodeFault[]): CodeReading => ({
  faults,
  imports: [],
  entities: [],
  members: [],
  adds: new Set(),
  offers: undefined,
});

/** Builds a syntax error. */
export const syntaxFault = (at: Position, message: string, hint?: string): CodeFault => ({
  code: 'syntax',
  line: at.line,
  column: at.column,
  message,
  ...(hint === undefined ? {} : { hint }),
});

/** Returns the reading of a file that nests deeper than the parser can follow. */
export const nestsTooDeeply = (language: string): CodeReading =>
  unreadable([
    {
      ...{ code: 'too_deep', line: 1, column: 1 },
      message: `the file's ${language} nests too deeply to be parsed`,
      hint: 'split long expressions and chains into several statements',
    },
  ]);
