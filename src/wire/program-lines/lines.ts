/**
 * Messages of a program to its parent process: one JSON object a line on standard output. Each kind of line has a
 * member that no other kind has. Programs write them with `say`; read.ts parses and validates them. Nothing else may be
 * written to standard output; logs go to standard error.
 */

import type { Assignment } from '../host-api/assignment.ts';
import { LedgerEntry } from '../host-api/ledger.ts';
import { nullable, oneOf } from '../schemas.ts';
import { type Static, Type } from '../type.ts';

const Addresses = Type.Array(Type.String());

/** Reports that a server accepts requests. */
export const ListeningLine = Type.Object({
  listening: Type.Array(Type.String(), {
    description: 'base addresses, of the public API or the gateway',
  }),
  /** Control plane only: addresses of its host API, and of the APIs for the other programs. */
  hosts: Type.Optional(Addresses),
  internal: Type.Optional(Addresses),
});
export type ListeningLine = Static<typeof ListeningLine>;

/** Reports that an orchestrator runs; `leading` is true if it holds the lease. Sent whenever that changes. */
export const LeadingLine = Type.Object({ leading: Type.Boolean() });
export type LeadingLine = Static<typeof LeadingLine>;

/** Reports that launches of a pool begin to fail, fail for another reason, or work again. */
export const LaunchesLine = Type.Object({
  launches: Type.Object({
    pool: Type.String(),
    failuresInARow: Type.Integer({ minimum: 0 }),
    /** Milliseconds until the next launch is allowed; 0 if it is allowed now. */
    heldForMs: Type.Number({ minimum: 0 }),
    /** Message of the last failure; absent if launches work. */
    reason: Type.Optional(Type.String()),
  }),
});
export type LaunchesLine = Static<typeof LaunchesLine>;

const FileProblem = Type.Object({
  line: Type.Optional(Type.Integer({ minimum: 1 })),
  message: Type.String(),
  hint: Type.Optional(Type.String()),
});

/** Reports that the orchestrator has read a pools file: its pools, or the problems for which the file was rejected. */
export const ConfigurationLine = Type.Object({
  configuration: Type.Object({
    file: Type.String(),
    problems: Type.Array(FileProblem),
    warnings: Type.Array(FileProblem),
    /** The new pools, in their order; absent if the file was rejected. */
    pools: Type.Optional(Type.Array(Type.String())),
  }),
});
export type ConfigurationLine = Static<typeof ConfigurationLine>;

/** Describes how hosts are isolated and how not, for people. Sent if hosts are plain processes. */
export const IsolationLine = Type.Object({ isolation: Type.String() });
export type IsolationLine = Static<typeof IsolationLine>;

/** Describes the current step of a command, for people. */
export const ProgressLine = Type.Object({ progress: Type.String() });
export type ProgressLine = Static<typeof ProgressLine>;

/** Reports that a command has finished: the last line of `prepare`, `dismantle`, `image` and `images`. */
export const ReadyLine = Type.Object({
  ready: Type.Literal(true),
  /**
   * `prepare` only: further address on which the control plane has to serve its host API; null if loopback is enough.
   */
  listen: Type.Optional(nullable(Type.String())),
  /** `prepare` only: host name by which hosts reach the machine of the control plane. */
  host: Type.Optional(Type.String()),
  /** `prepare` and `image`: image that hosts run, if there is one. */
  image: Type.Optional(nullable(Type.String())),
  /** `images` only: all built images. */
  images: Type.Optional(Type.Array(Type.String())),
});
export type ReadyLine = Static<typeof ReadyLine>;

const LeftOutChange = Type.Object({
  entity: Type.String(),
  /** Canonical primary key of the row, a JSON list. */
  key: Type.String(),
  change: oneOf(['inserted', 'updated', 'deleted']),
  reason: Type.String(),
});
/** A change of a session that could not be carried over to the reloaded world. */
export type LeftOutChange = Static<typeof LeftOutChange>;

/** Reports that a world from a folder is now served, with the changes carried over from the build before it. */
export const ServingLine = Type.Object({
  serving: Type.Object({
    kept: Type.Integer({ minimum: 0 }),
    leftOut: Type.Array(LeftOutChange),
  }),
});
export type ServingLine = Static<typeof ServingLine>;

/** Reports that the world of a folder cannot be served. If an earlier build was being served, it stays in service. */
export const NotServedLine = Type.Object({
  notServed: Type.Object({ reason: Type.String(), hasBefore: Type.Boolean() }),
});
export type NotServedLine = Static<typeof NotServedLine>;

/** Reports a request to the world of a folder, and its answer. */
export const RequestLine = Type.Object({ request: LedgerEntry });
export type RequestLine = Static<typeof RequestLine>;

/** Reports that an archive was graded again. The texts are the archived grade and the new one. */
export const RegradedLine = Type.Object({
  regraded: Type.Object({ archived: Type.String(), grade: Type.String() }),
});
export type RegradedLine = Static<typeof RegradedLine>;

/** Message to the program that serves the world of a folder; the program reads one a line from standard input. */
export type FolderWorld = {
  assignment: Assignment;
  /** Blobs that the world needs and that were not sent before, as base64 by digest. */
  blobs: Readonly<Record<string, string>>;
  /** True if the world needs workers for user code. */
  hasCode: boolean;
  /** Token of the link by which a browser opens the page. The link may be used more than once. */
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
