/**
 * A folder or a bucket outside of the service, whose files are taken into a project, or that files of a project are
 * put into. What a place says is a stranger's: paths are judged by whoever uses them, and lists and files are bounded.
 */
import type { Readable } from 'node:stream';

export type PlacedFile = {
  /** Below the place, with `/` between names; nothing was looked at yet but that it is text. */
  path: string;
  bytes: number;
  /** Another one says that the file may have changed. */
  stamp: string;
};

/** What is said of a path that is left out. */
export type PlaceWarning = { path: string; message: string };

export type Listing = {
  files: PlacedFile[];
  warnings: PlaceWarning[];
  /** Whether there are more files than are looked at. */
  isCut: boolean;
};

/** What is written to a place. */
export type Outgoing = { bytes: number; contentType: string; read(): Promise<Readable> };

export type Place = {
  /** Where it is, for people. */
  location: string;
  /** The files that are there, by path. Throws `unavailable` when the place cannot be used. */
  list(signal: AbortSignal): Promise<Listing>;
  /** A file as it is read, with its type where the place says one. */
  read(
    path: string,
    signal: AbortSignal,
  ): Promise<{ stream: Readable; contentType: string | undefined }>;
  /** Writes a file, whole or not at all, over one that is there; answers its stamp. */
  write(path: string, file: Outgoing, signal: AbortSignal): Promise<string>;
  close(): void;
};

/** Files of a place that are looked at. */
export const mostPlaced = 10_000;
