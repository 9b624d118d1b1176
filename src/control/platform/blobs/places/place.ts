/**
 * Folder or bucket outside the service, from which files are imported into a project or to which files are exported.
 * Its data is untrusted: callers validate the paths, and lists and files are limited in size.
 */
import type { Readable } from 'node:stream';

export type PlacedFile = {
  /**
   * Path relative to the place, with segments joined by `/`. It is known to be text, but nothing else about it is
   * validated.
   */
  path: string;
  bytes: number;
  /** Stamp of the file's content. If the stamp has changed, the file may have changed. */
  stamp: string;
};

/** Path that was skipped, with the reason. */
export type PlaceWarning = { path: string; message: string };

export type Listing = {
  files: PlacedFile[];
  warnings: PlaceWarning[];
  /** True if the place has more files than the limit, so that the list is cut off. */
  isCut: boolean;
};

/** File to be written to a place. */
export type Outgoing = { bytes: number; contentType: string; read(): Promise<Readable> };

export type Place = {
  /** Location of the place as messages name it. */
  location: string;
  /** Lists the files of the place, sorted by path. Throws `unavailable` if the place cannot be used. */
  list(signal: AbortSignal): Promise<Listing>;
  /** Reads a file as a stream. The content type is included if the place has one. */
  read(
    path: string,
    signal: AbortSignal,
  ): Promise<{ stream: Readable; contentType: string | undefined }>;
  /** Writes a file atomically and replaces an existing file. Returns the stamp of the new file. */
  write(path: string, file: Outgoing, signal: AbortSignal): Promise<string>;
  close(): void;
};

/** Maximum number of files in a listing. */
export const mostPlaced = 10_000;
