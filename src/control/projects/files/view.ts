/** Builds the client's views of files and folders. */
import type {
  ConfirmedView,
  DownloadView,
  FileView,
  FolderView,
} from '#wire/public-api/projects/file.ts';
import type { AwaitedRow } from '../../db/projects/awaited-files.ts';
import type { FolderRow } from '../../db/projects/file-folders.ts';
import type { FileRow } from '../../db/projects/files.ts';
import type { SignedAddresses } from '../../platform/blobs/signed.ts';
import { sumOf } from './uploads.ts';

const factsOf = (path: string, row: Pick<FileRow, 'bytes' | 'contentType' | 'digest'>) => ({
  path,
  sizeBytes: row.bytes,
  contentType: row.contentType,
  sha256: sumOf(row.digest),
});

/**
 * Returns the view of a file. `above` is the path of the file's folder with a slash at its end; it is empty at the top.
 */
export const viewFile = (above: string, row: FileRow): FileView => ({
  fileId: row.id,
  ...factsOf(`${above}${row.name}`, row),
  name: row.name,
  author: row.author,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});

/** Returns the view of a folder at a path. */
export const viewFolder = (path: string, row: FolderRow): FolderView => ({
  path,
  name: row.name,
  files: row.files,
  folders: row.folders,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});

/** Returns the view of an upload, with the address to send its bytes to. */
export const viewUpload = async (addresses: SignedAddresses, awaited: AwaitedRow) => {
  const { id, path, digest, bytes, contentType, received } = awaited;
  const { url, headers, expiresAt } = await addresses.upload(id, { digest, bytes }, contentType);
  return {
    fileId: id,
    path: path ?? '',
    uploadUrl: url,
    uploadHeaders: headers,
    expiresAt: expiresAt.toISOString(),
    held: received,
  };
};

/** Returns the view of an upload that was confirmed or dropped. */
export const viewSettled = (
  path: string,
  row: Pick<FileRow, 'id' | 'bytes' | 'contentType' | 'digest'>,
  ready: boolean,
): ConfirmedView => ({ fileId: row.id, ...factsOf(path, row), ready });

/** Returns the view of a file with a download address that is valid for an hour. */
export const viewDownload = async (
  addresses: SignedAddresses,
  path: string,
  row: FileRow,
): Promise<DownloadView> => {
  const { name, contentType } = row;
  const { url, expiresAt } = await addresses.download(row.digest, { name, contentType });
  return { ...factsOf(path, row), url, urlExpiry: expiresAt.toISOString() };
};
