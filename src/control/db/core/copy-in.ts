/**
 * Runs `copy … from stdin` with rows that are all known before it starts. The statement, the rows and the end of data
 * are sent to the server in one write, without waiting for the server's CopyInResponse. If the server rejects the
 * statement, it discards the rows, as the protocol prescribes ("Message Flow", "COPY Operations").
 */
import type { Connection, Submittable } from 'pg';

const codes = { copyData: 'd'.charCodeAt(0), copyDone: 'c'.charCodeAt(0) };
/** Bytes of the length field. The length of a message includes them. */
const lengthBytes = 4;

const head = (code: number, bytes: number): Buffer => {
  const buffer = Buffer.allocUnsafe(1 + lengthBytes);
  buffer.writeUInt8(code);
  buffer.writeUInt32BE(lengthBytes + bytes, 1);
  return buffer;
};

const end = head(codes.copyDone, 0);

/** COPY that is passed to the `query` method of a client of the driver. */
export class CopyIn implements Submittable {
  readonly #text: string;
  readonly #bytes: Buffer;
  readonly #outcome = Promise.withResolvers<void>();

  /** Creates the COPY from its statement, and from rows in the format that the statement names. */
  constructor(text: string, bytes: Buffer) {
    this.#text = text;
    this.#bytes = bytes;
  }

  /** Resolves once the rows are written. Rejects with the error of the server or of the connection. */
  get written(): Promise<void> {
    return this.#outcome.promise;
  }

  submit(connection: Connection): void {
    const { stream } = connection;
    stream.cork();
    connection.query(this.#text);
    stream.write(head(codes.copyData, this.#bytes.length));
    stream.write(this.#bytes);
    stream.write(end);
    stream.uncork();
  }

  // The driver calls the handlers below as messages arrive.
  handleCopyInResponse(): void {}

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#outcome.resolve();
  }

  handleError(error: Error): void {
    this.#outcome.reject(error);
  }
}
