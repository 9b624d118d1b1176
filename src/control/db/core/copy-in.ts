/**
 * `copy … from stdin` of rows that are complete before it starts. The statement, the rows and the end of data go to
 * the server in one write, without waiting for its CopyInResponse. If the server rejects the statement, it discards
 * the rows, as the protocol prescribes ("Message Flow", "COPY Operations").
 */
import type { Connection, Submittable } from 'pg';

const codes = { copyData: 'd'.charCodeAt(0), copyDone: 'c'.charCodeAt(0) };
/** A message's length includes these 4 bytes. */
const lengthBytes = 4;

const head = (code: number, bytes: number): Buffer => {
  const buffer = Buffer.allocUnsafe(1 + lengthBytes);
  buffer.writeUInt8(code);
  buffer.writeUInt32BE(lengthBytes + bytes, 1);
  return buffer;
};

const end = head(codes.copyDone, 0);

/** One COPY, to be passed to the `query` of a client. */
export class CopyIn implements Submittable {
  readonly #text: string;
  readonly #bytes: Buffer;
  readonly #outcome = Promise.withResolvers<void>();

  /** Takes the COPY statement, and the rows in the format that the statement names. */
  constructor(text: string, bytes: Buffer) {
    this.#text = text;
    this.#bytes = bytes;
  }

  /** Resolves once the rows are written; rejects with the error of the server or of the connection. */
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
