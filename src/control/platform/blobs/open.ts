/** Opens the store that the configuration names. */
import type { Queryable } from '../../db/core/database.ts';
import type { BlobStoreConfig, Blobs } from './blobs.ts';
import { openDatabaseBlobs } from './database.ts';
import { openFolderBlobs } from './folder.ts';

/**
 * Opens it, or throws `unavailable` with what is wrong. The client of S3 takes 50 ms and 8 MiB to load,
 * a tenth of what all else takes, and is loaded only where it is used.
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
