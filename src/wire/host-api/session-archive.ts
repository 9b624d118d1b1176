/**
 * An archive of a session: a gzipped tar of its initial files, its calls and requests, and its final state. It can be read,
 * and graded again, without the service. The control plane writes it from the pages that the session's host exports;
 * `svc worlds session regrade` reads it.
 *
 * | File | Holds |
 * | - | - |
 * | `session.json` | `ArchiveHead` |
 * | `task.json` | the spec of its task with seed and grader; null without a task |
 * | `grade.json` | the grade of the exported state; null without a grader |
 * | `version.json` | the version of its world: its files with their digests |
 * | `blobs/<sha256>` | files that worlds are loaded from: contract with user code, and base rows |
 * | `calls/0001.jsonl` … | the call log |
 * | `ledger/0001.jsonl` … | the request ledger |
 * | `changes/0001.jsonl` … | `ChangeLine`: rows that differ from the state in which the task began |
 * | `rows/0001.jsonl` … | `RowLine`: all rows of the final state |
 */
import { SessionClock } from '../public-api/sessions/session.ts';
import { TaskSpec } from '../public-api/worlds/task-spec.ts';
import { DigestText, nullable, oneOf, Timestamp } from '../schemas.ts';
import { type Static, Type } from '../type.ts';

export const archiveFormat = 1;

const Count = Type.Integer({ minimum: 0 });

/** A changed row. Rows are texts, because a digest covers each of their bytes. */
export const ChangeLine = Type.Object({
  world: nullable(
    Type.String({ description: 'alias of a linked world; null: the world of the session' }),
  ),
  entity: Type.String(),
  key: Type.String({ description: 'canonical key of the row, a JSON list' }),
  before: nullable(Type.String()),
  after: nullable(Type.String()),
});
export type ChangeLine = Static<typeof ChangeLine>;

/** A row in its final state. */
export type RowLine = { world: string | null; entity: string; row: unknown };

const WorldState = Type.Object({
  digest: DigestText,
  counts: Type.Record(Type.String(), Count),
});

/** State of a session at the moment of its export. */
export const SessionState = Type.Object({
  at: Type.String({ description: "time in the world, by the session's clock" }),
  ...WorldState.properties,
  links: Type.Record(Type.String(), WorldState),
  ledger: Type.Object({ lastId: Count, missing: Count }),
  answer: nullable(Type.Object({ value: Type.Unknown() })),
  rows: oneOf(
    ['all', 'left out'],
    'left out because there are too many rows; the final state is the base rows with the changes applied',
  ),
});
export type SessionState = Static<typeof SessionState>;

const sources = { bundle: DigestText, snapshot: DigestText };

/** Contents of `session.json`. */
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

/** Parts of an archive that are stored in numbered files. */
export const archiveParts = ['calls', 'ledger', 'changes', 'rows'] as const;
export type ArchivePart = (typeof archiveParts)[number];

/** Parts that a host exports. */
export const recordParts = ['changes', 'ledger', 'rows'] as const;

/** Cursor into a host's export. It points to a line of a section; a section is a part, or the rows of one entity. */
export const RecordPlace = Type.Object({
  section: Count,
  offset: Count,
});
export type RecordPlace = Static<typeof RecordPlace>;

/**
 * A page of a host's export of its session. `stamp` identifies the exported state: all pages of one archive have the
 * same. The first page also has the state and the grade.
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

/** Returns the name of a numbered file; numbers begin at 1. */
export const partFile = (part: ArchivePart, number: number): string =>
  `${part}/${String(number).padStart(4, '0')}.jsonl`;

/** Returns the name of a blob's file. */
export const blobFile = (digest: string): string => `blobs/${digest.slice('sha256:'.length)}`;
