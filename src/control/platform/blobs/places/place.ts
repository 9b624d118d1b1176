/**
 * A folder or bucket outside the service, from which files are imported into a project or to which they are exported.
 * Data from a place is untrusted: callers validate the paths, and lists and files are limited in size.
 */
import type { Readable } from 'node:stream';

export type PlacedFile = {
  /** Path relative to the place, segments joined by `/`; not validated beyond being text. */
  path: string;
  bytes: number;
  /** Version of the file: a different stamp means that the file may have changed. */
  stamp: string;
};

/** Path that was skipped, and why. */
export type PlaceWarning = { path: string; message: string };

export type Listing = {
  files: PlacedFile[];
  warnings: PlaceWarning[];
  /** True if there are more files than the limit. */
  isCut: boolean;
};

/** File to write to a place. */
export type Outgoing = { bytes: number; contentType: string; read(): Promise<Readable> };

export type Place = {
  /** Location for messages. */
  location: string;
  /** Lists the files of the place by path. Throws `unavailable` if the place cannot be used. */
  list(signal: AbortSignal): Promise<Listing>;
  /** Reads a file as a stream, with its content type if the place knows it. */
  read(
    path: string,
    signal: AbortSignal,
  ): Promise<{ stream: Readable; contentType: string | undefined }>;
  /** Writes a file atomically, replacing an existing one; returns its stamp. */
  write(path: string, file: Outgoing, signal: AbortSignal): Promise<string>;
  close(): void;
};

/** Maximum number of files listed. */
export const mostPlaced = 10_000;
