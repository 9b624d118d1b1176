/**
 * Writes an archive (gzipped tar) to a file. Entries are written one after another; the size of each is known before it
 * is written.
 */
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { createTarPacker } from 'modern-tar';

export type ArchiveFile = {
  add(name: string, content: string | Uint8Array): Promise<void>;
  /** Adds an entry whose bytes are streamed from `source`. */
  addStream(name: string, sizeBytes: number, source: Readable): Promise<void>;
  /** Resolves once the complete archive is in the file. */
  finish(): Promise<void>;
  /** Abandons the archive. Resolves once all writes to the file have stopped. */
  abort(): Promise<void>;
};

/** Metadata of every entry. It is constant, so that archives with equal contents have equal bytes. */
const entry = { type: 'file', mode: 0o644, mtime: new Date(0) } as const;

/** Opens an archive file; an existing file is truncated. */
export const openArchiveFile = (path: string): ArchiveFile => {
  const { readable, controller } = createTarPacker();
  const written = pipeline(Readable.fromWeb(readable), createGzip(), createWriteStream(path));
  // A write error reaches the caller of the next `add` or `finish`.
  written.catch((error) => controller.error(error));
  const begin = (name: string, size: number) =>
    controller.add({ ...entry, name, size }).getWriter();
  return {
    async add(name, content) {
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      const writer = begin(name, bytes.byteLength);
      if (bytes.byteLength > 0) await writer.write(bytes);
      await writer.close();
    },
    async addStream(name, sizeBytes, source) {
      const writer = begin(name, sizeBytes);
      for await (const chunk of source) await writer.write(chunk as Uint8Array);
      await writer.close();
    },
    async finish() {
      controller.finalize();
      await written;
    },
    async abort() {
      controller.error(new Error('the write of the archive was aborted'));
      await written.catch(() => undefined);
    },
  };
};
