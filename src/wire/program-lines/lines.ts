/**
 * What a program says to whoever started it: one JSON object a line on its standard output. A line is known
 * by the member that only its kind has. Programs write them with `say`; read.ts reads them, checked.
 * Standard output carries nothing else: logs go to standard error.
 */

import type { Assignment } from '../host-api/assignment.ts';
import { LedgerEntry } from '../host-api/ledger.ts';
import { nullable, oneOf } from '../schemas.ts';
import { type Static, Type } from '../type.ts';

const Addresses = Type.Array(Type.String());

/** A server takes requests. */
export const ListeningLine = Type.Object({
  listening: Type.Array(Type.String(), {
    description: 'base addresses, of the public API or the gateway',
  }),
  /** Of the control plane: addresses of its host API, and of those for the other programs. */
  hosts: Type.Optional(Addresses),
  internal: Type.Optional(Addresses),
});
export type ListeningLine = Static<typeof ListeningLine>;

/** An orchestrator runs: whether it holds the lease. Said whenever that changes. */
export const LeadingLine = Type.Object({ leading: Type.Boolean() });
export type LeadingLine = Static<typeof LeadingLine>;

/** Launches of a pool begin to fail, fail for another reason, or work again. */
export const LaunchesLine = Type.Object({
  launches: Type.Object({
    pool: Type.String(),
    failuresInARow: Type.Integer({ minimum: 0 }),
    /** Milliseconds until a launch is allowed again; 0 when it is. */
    heldForMs: Type.Number({ minimum: 0 }),
    /** What the last failure said; absent when launches work. */
    reason: Type.Optional(Type.String()),
  }),
});
export type LaunchesLine = Static<typeof LaunchesLine>;

const FileProblem = Type.Object({
  line: Type.Optional(Type.Integer({ minimum: 1 })),
  message: Type.String(),
  hint: Type.Optional(Type.String()),
});

/** A file of pools was read: what it holds now, or why it was refused. */
export const ConfigurationLine = Type.Object({
  configuration: Type.Object({
    file: Type.String(),
    problems: Type.Array(FileProblem),
    warnings: Type.Array(FileProblem),
    /** The pools from now on, in their order; absent when the file was refused. */
    pools: Type.Optional(Type.Array(Type.String())),
  }),
});
export type ConfigurationLine = Static<typeof ConfigurationLine>;

/** What keeps hosts apart and what does not, for a person; said where they are processes. */
export const IsolationLine = Type.Object({ isolation: Type.String() });
export type IsolationLine = Static<typeof IsolationLine>;

/** What a command works on now, for a person. */
export const ProgressLine = Type.Object({ progress: Type.String() });
export type ProgressLine = Static<typeof ProgressLine>;

/** A command has done its work: the last line of `prepare`, `dismantle`, `image` and `images`. */
export const ReadyLine = Type.Object({
  ready: Type.Literal(true),
  /** Of `prepare`: where the control plane has to serve its host API besides; null: loopback is enough. */
  listen: Type.Optional(nullable(Type.String())),
  /** Of `prepare`: how hosts name the machine of the control plane. */
  host: Type.Optional(Type.String()),
  /** Of `prepare` and `image`: the image that hosts run, where there is one. */
  image: Type.Optional(nullable(Type.String())),
  /** Of `images`: all that were built. */
  images: Type.Optional(Type.Array(Type.String())),
});
export type ReadyLine = Static<typeof ReadyLine>;

const LeftOutChange = Type.Object({
  entity: Type.String(),
  /** The canonical key, a JSON list. */
  key: Type.String(),
  change: oneOf(['inserted', 'updated', 'deleted']),
  reason: Type.String(),
});
/** A change of a session that did not fit the world that took the place of its own. */
export type LeftOutChange = Static<typeof LeftOutChange>;

/** A world of a folder is served from now on, with what was carried over of the one before. */
export const ServingLine = Type.Object({
  serving: Type.Object({
    kept: Type.Integer({ minimum: 0 }),
    leftOut: Type.Array(LeftOutChange),
  }),
});
export type ServingLine = Static<typeof ServingLine>;

/** A world of a folder cannot be served; the one before is, if there was one. */
export const NotServedLine = Type.Object({
  notServed: Type.Object({ reason: Type.String(), hasBefore: Type.Boolean() }),
});
export type NotServedLine = Static<typeof NotServedLine>;

/** A request to the world of a folder, and what it came to. */
export const RequestLine = Type.Object({ request: LedgerEntry });
export type RequestLine = Static<typeof RequestLine>;

/** An archive was graded again; the texts are the grade that it holds and the one that it has now. */
export const RegradedLine = Type.Object({
  regraded: Type.Object({ archived: Type.String(), grade: Type.String() }),
});
export type RegradedLine = Static<typeof RegradedLine>;

/** What a program that serves a folder is given on its standard input, one a line. */
export type FolderWorld = {
  assignment: Assignment;
  /** By digest, as base64: what the world takes and was not given before. */
  blobs: Readonly<Record<string, string>>;
  /** Whether it takes workers for user code. */
  hasCode: boolean;
  /** The token of the link by which a browser enters the page. It is good more than once. */
  link: string;
};

/** A line of any kind. */
export type ProgramLine =
  | ListeningLine
  | LeadingLine
  | LaunchesLine
  | ConfigurationLine
  | IsolationLine
  | ProgressLine
  | ReadyLine
  | ServingLine
  | NotServedLine
  | RequestLine
  | RegradedLine;

/** Writes a line to standard output. */
export const say = (line: ProgramLine): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`);
};
