/**
 * `copy … from stdin` of rows that are all there already: the statement, the rows and their end go to the server in
 * one write, without a wait for its word that it is ready. Of a statement that it refuses, the server passes over
 * the rows, as the protocol has it ("Message Flow", "COPY Operations").
 */
import type { Connection, Submittable } from 'pg';

const codes = { copyData: 'd'.charCodeAt(0), copyDone: 'c'.charCodeAt(0) };
/** A length counts itself. */
const lengthBytes = 4;

const head = (code: number, bytes: number): Buffer => {
  const buffer = Buffer.allocUnsafe(1 + lengthBytes);
  buffer.writeUInt8(code);
  buffer.writeUInt32BE(lengthBytes + bytes, 1);
  return buffer;
};

const end = head(codes.copyDone, 0);

/** Such a copy, for the `query` of a client. */
export class CopyIn implements Submittable {
  readonly #text: string;
  readonly #bytes: Buffer;
  readonly #outcome = Promise.withResolvers<void>();

  /** Of one statement; the bytes are rows in the format that it names. */
  constructor(text: string, bytes: Buffer) {
    this.#text = text;
    this.#bytes = bytes;
  }

  /** Resolves once the rows are written; rejects with what the server, or the connection, says. */
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

  // What follows is called by the driver, as messages arrive.
  handleCopyInResponse(): void {}

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#outcome.resolve();
  }

  handleError(error: Error): void {
    this.#outcome.reject(error);
  }
}
