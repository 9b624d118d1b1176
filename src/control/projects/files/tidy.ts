/** Cleanup of project files: uploads that were never confirmed, and deleted folders. */
import { discardAwaited, listExpired } from '../../db/projects/awaited-files.ts';
import { emptyDetached } from '../../db/projects/file-folders.ts';
import type { ProjectParts } from '../parts.ts';

/** Drops some of the uploads that were not confirmed in time. */
export const dropExpiredUploads = async ({
  blobs,
  db,
}: Pick<ProjectParts, 'blobs' | 'db'>): Promise<void> => {
  for (const id of await listExpired(db)) {
    if (await discardAwaited(db, id)) await blobs.presigned?.drop(id);
  }
};

/** Removes some of the contents of deleted folders. */
export const emptyDeletedFolders = async ({ db }: Pick<ProjectParts, 'db'>): Promise<void> => {
  await db.transaction(emptyDetached);
};
