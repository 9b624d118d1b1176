/** Exports an open session as an archive, which is written for the request and can be read once. */
import { createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { scratchPath } from '#runtime/scratch-files.ts';
import { findSession, findSessionTask, noSession } from '../../db/sessions/sessions.ts';
import type { SessionParts } from '../parts.ts';
import { type ArchiveFile, openArchiveFile } from './archive-file.ts';
import { passRecord, type SessionAsked } from './ask.ts';
import { type Exported, writeArchive } from './write.ts';

const findExported = async (
  { db, versions }: SessionParts,
  { projectId, sessionId }: SessionAsked,
): Promise<Exported> => {
  const session = await findSession(db, projectId, sessionId);
  const version = session === undefined ? undefined : await versions.get(session.versionId);
  if (session === undefined || version === undefined) throw noSession(sessionId);
  return { session, version, taskJson: await findSessionTask(db, sessionId) };
};

/** Writes the archive to a path. If the session changes during the export, starts over. */
const writeAt = async (
  parts: SessionParts,
  asked: SessionAsked,
  path: string,
  signal: AbortSignal,
): Promise<void> => {
  const exported = await findExported(parts, asked);
  let file: ArchiveFile | undefined;
  let archive: Awaited<ReturnType<typeof writeArchive>> | undefined;
  const begin = async () => {
    await file?.abort();
    file = openArchiveFile(path);
    archive = await writeArchive(parts, exported, file);
    return archive;
  };
  try {
    await passRecord(parts, asked, begin, signal);
    await archive?.finish();
  } catch (error) {
    await file?.abort();
    throw error;
  }
};

/**
 * Returns the archive as a stream, with its size.
 * @throws `not_found` if the project has no such session, `conflict` if the session has ended or keeps changing, and
 * `timeout` or `unavailable` if its host does not answer.
 */
export const exportSession = async (
  parts: SessionParts,
  asked: SessionAsked,
  signal: AbortSignal,
): Promise<{ stream: Readable; bytes: number }> => {
  const path = await scratchPath(join(parts.config.workDir, 'exports'), '.tar.gz');
  try {
    await writeAt(parts, asked, path, signal);
    const { size } = await stat(path);
    const stream = createReadStream(path);
    stream.once('close', () => void rm(path, { force: true }));
    return { stream, bytes: size };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
};
