/** An archive as it is written into a file: entries one after another, each of a size that is known before. */
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { createTarPacker } from 'modern-tar';

export type ArchiveFile = {
  add(name: string, content: string | Uint8Array): Promise<void>;
  /** Adds bytes as they are read. */
  addStream(name: string, sizeBytes: number, source: Readable): Promise<void>;
  /** Resolves when all of it is in the file. */
  finish(): Promise<void>;
  /** Resolves when nothing is written any more. */
  abort(): Promise<void>;
};

/** The same for all entries, so that equal contents are equal archives. */
const entry = { type: 'file', mode: 0o644, mtime: new Date(0) } as const;

/** Begins one; the file is made anew. */
export const openArchiveFile = (path: string): ArchiveFile => {
  const { readable, controller } = createTarPacker();
  const written = pipeline(Readable.fromWeb(readable), createGzip(), createWriteStream(path));
  // Whoever adds the next entry, or finishes, is told.
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
      controller.error(new Error('the archive is given up'));
      await written.catch(() => undefined);
    },
  };
};
