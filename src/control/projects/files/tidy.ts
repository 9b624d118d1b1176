/** What is tidied of project files: uploads that nobody confirmed, and folders that were deleted. */
import { giveUpAwaited, listLate } from '../../db/projects/awaited-files.ts';
import { emptyDetached } from '../../db/projects/file-folders.ts';
import type { ProjectParts } from '../parts.ts';

/** Gives up some of what was not confirmed in time. */
export const dropLateUploads = async ({
  blobs,
  db,
}: Pick<ProjectParts, 'blobs' | 'db'>): Promise<void> => {
  for (const id of await listLate(db)) {
    if (await giveUpAwaited(db, id)) await blobs.presigned?.drop(id);
  }
};

/** Removes some of what lay in deleted folders. */
export const emptyDeletedFolders = async ({ db }: Pick<ProjectParts, 'db'>): Promise<void> => {
  await db.transaction(emptyDetached);
};
