/**
 * An archive of a session: a gzipped tar of what it was opened on, what was done in it, and the state that it left, so that
 * it can be read, and graded again without the service. The control plane writes it, of what the session's host tells
 * page by page; `svc worlds session regrade` reads it.
 *
 * | File | Holds |
 * | - | - |
 * | `session.json` | `ArchiveHead` |
 * | `task.json` | the spec of its task with seed and grader; null: it has none |
 * | `grade.json` | what its grader said of it as it was exported; null: it has none |
 * | `version.json` | the version of its world: the files with their digests |
 * | `blobs/<sha256>` | what worlds are loaded from: contract with user code, and base rows |
 * | `calls/0001.jsonl` … | the call log |
 * | `ledger/0001.jsonl` … | the request ledger |
 * | `changes/0001.jsonl` … | `ChangeLine`: rows that differ from the state in which the task began |
 * | `rows/0001.jsonl` … | `RowLine`: all rows as they were left |
 */
import { SessionClock } from '../public-api/sessions/session.ts';
import { TaskSpec } from '../public-api/worlds/task-spec.ts';
import { DigestText, nullable, oneOf, Timestamp } from '../schemas.ts';
import { type Static, Type } from '../type.ts';

export const archiveFormat = 1;

const Count = Type.Integer({ minimum: 0 });

/** A row that differs; the rows are texts, because a digest is held to each byte of them. */
export const ChangeLine = Type.Object({
  world: nullable(Type.String({ description: 'the alias of a linked world; null: its own' })),
  entity: Type.String(),
  key: Type.String({ description: 'the canonical key, a JSON list' }),
  before: nullable(Type.String()),
  after: nullable(Type.String()),
});
export type ChangeLine = Static<typeof ChangeLine>;

/** A row as it was left. */
export type RowLine = { world: string | null; entity: string; row: unknown };

const WorldState = Type.Object({
  digest: DigestText,
  counts: Type.Record(Type.String(), Count),
});

/** How a session stood at the moment of its export. */
export const SessionState = Type.Object({
  at: Type.String({ description: "the time in the world, by the session's clock" }),
  ...WorldState.properties,
  links: Type.Record(Type.String(), WorldState),
  ledger: Type.Object({ lastId: Count, missing: Count }),
  answer: nullable(Type.Object({ value: Type.Unknown() })),
  rows: oneOf(['all', 'left out'], 'left out: there are too many; they are base rows with changes'),
});
export type SessionState = Static<typeof SessionState>;

const sources = { bundle: DigestText, snapshot: DigestText };

/** `session.json`. */
export const ArchiveHead = Type.Object({
  format: Type.Literal(archiveFormat),
  exportedAt: Timestamp,
  session: Type.Object({
    id: Type.String(),
    openedAt: Timestamp,
    task: nullable(Type.String()),
    clock: SessionClock,
    seed: nullable(Type.Integer({ minimum: 0 })),
  }),
  world: Type.Object({
    slug: Type.String(),
    versionId: Type.String(),
    number: Type.Integer(),
    contentHash: Type.String(),
    ...sources,
  }),
  links: Type.Array(
    Type.Object({
      alias: Type.String(),
      slug: Type.String(),
      task: nullable(TaskSpec),
      tools: Type.Array(Type.String()),
      ...sources,
    }),
  ),
  state: SessionState,
});
export type ArchiveHead = Static<typeof ArchiveHead>;

/** The parts of an archive that come in numbered files. */
export const archiveParts = ['calls', 'ledger', 'changes', 'rows'] as const;
export type ArchivePart = (typeof archiveParts)[number];

/** The parts that a host tells. */
export const recordParts = ['changes', 'ledger', 'rows'] as const;

/** Where a page of what a host tells begins: at a line of a part, of rows of one entity. */
export const RecordPlace = Type.Object({
  section: Count,
  offset: Count,
});
export type RecordPlace = Static<typeof RecordPlace>;

/**
 * A page of what a host tells of its session. `stamp` names the state that it is of: pages of one archive have the same. The
 * first page has the state and the grade.
 */
export const RecordPage = Type.Object({
  stamp: Type.String({ maxLength: 200 }),
  head: Type.Optional(Type.Object({ state: SessionState, grade: Type.Unknown() })),
  sections: Type.Array(
    Type.Object({ part: oneOf(recordParts), lines: Type.Array(Type.Unknown()) }),
  ),
  next: nullable(RecordPlace),
});
export type RecordPage = Static<typeof RecordPage>;

/** The name of a numbered file, from 1. */
export const partFile = (part: ArchivePart, number: number): string =>
  `${part}/${String(number).padStart(4, '0')}.jsonl`;

/** The name of a blob's file. */
export const blobFile = (digest: string): string => `blobs/${digest.slice('sha256:'.length)}`;
