/**
 * Writes the archive of a session: the world version and the task that the session was opened with, the calls, and the
 * record from the session's host.
 */
import { limits } from '#domain/limits.ts';
import {
  type ArchiveHead,
  type ArchivePart,
  archiveFormat,
  blobFile,
  partFile,
  type RecordPage,
} from '#wire/host-api/session-archive.ts';
import { jsonBody } from '../../base/json/json-text.ts';
import { callFields, listCalls } from '../../db/sessions/calls.ts';
import type { SessionRow } from '../../db/sessions/session-row.ts';
import type { Version } from '../../worlds/caches/versions.ts';
import { viewFiles } from '../../worlds/versions/view-version.ts';
import { viewListedCall } from '../calls/view.ts';
import { linkedWorldsOf } from '../hosts/poll.ts';
import type { SessionParts } from '../parts.ts';
import type { ArchiveFile } from './archive-file.ts';

/** Session to export, with the version and the task that it was opened with. `taskJson` is null if it has no task. */
export type Exported = { session: SessionRow; taskJson: string | null; version: Version };

type Links = Awaited<ReturnType<typeof linkedWorldsOf>>;

const linesOf = (lines: readonly unknown[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('');

const headOf = (
  { session, version }: Exported,
  links: Links,
  state: ArchiveHead['state'],
): ArchiveHead => ({
  format: archiveFormat,
  exportedAt: new Date().toISOString(),
  session: {
    id: session.id,
    openedAt: session.createdAt.toISOString(),
    task: session.taskName,
    clock: session.clock,
    seed: session.seed,
  },
  world: {
    slug: version.slug,
    versionId: version.id,
    number: version.number,
    contentHash: version.contentHash,
    bundle: version.bundle,
    snapshot: version.snapshot,
  },
  links: links.map(({ alias, worldSlug, task, tools, bundle, snapshot }) => ({
    ...{ alias, slug: worldSlug, tools, bundle, snapshot },
    task: task as ArchiveHead['links'][number]['task'],
  })),
  state,
});

const writeBlobs = async (
  { blobs }: SessionParts,
  file: ArchiveFile,
  worlds: Links,
): Promise<void> => {
  const digests = new Set(worlds.flatMap(({ bundle, snapshot }) => [bundle, snapshot]));
  for (const digest of digests as Set<Version['bundle']>) {
    await file.addStream(blobFile(digest), await blobs.size(digest), await blobs.read(digest));
  }
};

/** Writes the call log. Calls that exports made themselves are left out. */
const writeCalls = async (
  parts: SessionParts,
  file: ArchiveFile,
  session: SessionRow,
): Promise<void> => {
  const view = viewListedCall(callFields, 'secret');
  for (let offset = 0, number = 1; ; number += 1) {
    const page = { limit: limits.pageMax, offset, fields: callFields };
    const found = await listCalls(parts.db, session.projectId, session.id, page);
    const rows = found?.rows ?? [];
    if (rows.length === 0) return;
    const shown = rows.filter(({ kind }) => kind !== 'export').map(view);
    const lines = shown.map((call) => `${jsonBody(call)}\n`).join('');
    await file.add(partFile('calls', number), lines);
    offset += rows.length;
  }
};

/**
 * Writes the pages of a host. If several pages have lines of one archive part, each page gets a file with its own
 * number.
 */
const recordWriter = (
  file: ArchiveFile,
  writeHead: (head: NonNullable<RecordPage['head']>) => Promise<void>,
) => {
  const numbers = new Map<ArchivePart, number>();
  return {
    async write({ head, sections }: RecordPage): Promise<void> {
      if (head !== undefined) await writeHead(head);
      for (const part of new Set(sections.map((section) => section.part))) {
        const lines = sections.filter((one) => one.part === part).flatMap((one) => one.lines);
        if (lines.length === 0) continue;
        const number = (numbers.get(part) ?? 0) + 1;
        numbers.set(part, number);
        await file.add(partFile(part, number), linesOf(lines));
      }
    },
  };
};

/** Starts an archive. `write` writes the pages of the host as they arrive; `finish` adds the other entries. */
export const writeArchive = async (parts: SessionParts, exported: Exported, file: ArchiveFile) => {
  const { session, taskJson, version } = exported;
  const links = await linkedWorldsOf(parts, version);
  const own = { ...version, alias: '', worldSlug: version.slug, blobs: {}, task: null, tools: [] };
  const record = recordWriter(file, async ({ state, grade }) => {
    const head = JSON.stringify(headOf(exported, links, state), null, 2);
    await file.add('session.json', head);
    await file.add('task.json', taskJson ?? 'null');
    await file.add('grade.json', JSON.stringify(grade, null, 2));
  });
  return {
    write: record.write,
    async finish(): Promise<void> {
      const { contentHash, files, number } = version;
      const manifest = { number, contentHash, files: viewFiles(files) };
      await file.add('version.json', JSON.stringify(manifest, null, 2));
      await writeCalls(parts, file, session);
      await writeBlobs(parts, file, [own, ...links]);
      await file.finish();
    },
  };
};
