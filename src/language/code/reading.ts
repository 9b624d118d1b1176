/**
 * What a check learns from the code of an author without running it: mistakes that its language finds, and the
 * modules, entities and members of contexts that it names. The same for Python and TypeScript.
 */
import type { ProblemCode } from '../read/codes.ts';
import type { Position } from '../read/positions.ts';

/** A mistake in one file, by a rule of the language. */
export type CodeFault = Position & { code: ProblemCode; message: string; hint?: string };

/** A name as it is written, with its place. */
export type NamedAt = Position & { name: string };

/** A module that code cannot do without, and what it takes from there. */
export type Import = NamedAt & { takes: readonly NamedAt[] };

/** Which context a function is called with. */
export type ContextKind = 'handler' | 'verify';

/** Members of a context that code uses. */
export type MemberUse = NamedAt & { context: ContextKind };

export type CodeReading = {
  /** Where one is a mistake of syntax, nothing else is known of the file. */
  faults: readonly CodeFault[];
  imports: readonly Import[];
  /** Entities, where a function of the store is given one as a literal. */
  entities: readonly NamedAt[];
  members: readonly MemberUse[];
  /** Names that another file may take from this one; undefined where they are not known without running it. */
  offers: ReadonlySet<string> | undefined;
};

/** How a file is read. */
export type ReadingOptions = {
  /** What a parameter `ctx` is that says nothing of its type; undefined: nobody knows. */
  context: ContextKind | undefined;
};

/** The reading of a file with mistakes of syntax. */
export const unreadable = (faults: readonly CodeFault[]): CodeReading => ({
  faults,
  imports: [],
  entities: [],
  members: [],
  offers: undefined,
});

/** A mistake of syntax. */
export const syntaxFault = (at: Position, message: string, hint?: string): CodeFault => ({
  code: 'syntax',
  line: at.line,
  column: at.column,
  message,
  ...(hint === undefined ? {} : { hint }),
});

/** A file whose statements or expressions nest deeper than its parser can follow. */
export const nestsTooDeeply = (language: string): CodeReading =>
  unreadable([
    {
      ...{ code: 'too_deep', line: 1, column: 1 },
      message: `its ${language} nests too deeply to be read`,
      hint: 'write long expressions and chains in several statements',
    },
  ]);
