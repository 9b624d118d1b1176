/**
 * The facts that a check reads from an author's code without running it: its mistakes, and the modules, entities and
 * members of contexts that it names. Python and TypeScript have the same form.
 */
import type { ProblemCode } from '../read/codes.ts';
import type { Position } from '../read/positions.ts';

/** A mistake in one file, by a rule of the language. */
export type CodeFault = Position & { code: ProblemCode; message: string; hint?: string };

/** A name with its place in the file. */
export type NamedAt = Position & { name: string };

/** A module that the code cannot run without, and the names taken from it. */
export type Import = NamedAt & { takes: readonly NamedAt[] };

/** The context that a function is called with: a handler's or a grader's. */
export type ContextKind = 'handler' | 'verify';

/** A member of a context that the code uses. */
export type MemberUse = NamedAt & { context: ContextKind };

export type CodeReading = {
  /** A file with a mistake of syntax has no other facts. */
  faults: readonly CodeFault[];
  imports: readonly Import[];
  /** Entities given to functions of the store as literals. */
  entities: readonly NamedAt[];
  members: readonly MemberUse[];
  /** Members that the code itself gives to a context. */
  adds: ReadonlySet<string>;
  /** Names that other files may import; undefined where only running the file would tell. */
  offers: ReadonlySet<string> | undefined;
};

/** Options of reading a file. */
export type ReadingOptions = {
  /** The context that an untyped parameter `ctx` stands for; undefined where it is not known. */
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

/** Makes a mistake of syntax. */
export const syntaxFault = (at: Position, message: string, hint?: string): CodeFault => ({
  code: 'syntax',
  line: at.line,
  column: at.column,
  message,
  ...(hint === undefined ? {} : { hint }),
});

/** Returns the reading of a file that nests deeper than its parser can follow. */
export const nestsTooDeeply = (language: string): CodeReading =>
  unreadable([
    {
      ...{ code: 'too_deep', line: 1, column: 1 },
      message: `its ${language} nests too deeply to be read`,
      hint: 'write long expressions and chains in several statements',
    },
  ]);
