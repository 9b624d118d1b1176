/** A secret that prints as `***` wherever it is logged, formatted or serialised by accident. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { inspect } from 'node:util';

export class Secret {
  readonly #value: string;
  #bytes: Buffer | undefined;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself; call it only where the value leaves for its purpose. */
  reveal(): string {
    return this.#value;
  }

  /**
   * Whether a given text is this secret, in time that does not depend on where they differ. How long
   * secrets are is none.
   */
  matches(text: string): boolean {
    this.#bytes ??= Buffer.from(this.#value);
    const given = Buffer.from(text);
    return given.length === this.#bytes.length && timingSafeEqual(this.#bytes, given);
  }

  /** A token for a purpose, which only the holder of this secret can make: base64url, 256 bits. */
  derive(purpose: string): string {
    return createHmac('sha256', this.#value).update(purpose).digest('base64url');
  }

  toString(): string {
    return '***';
  }

  toJSON(): string {
    return '***';
  }

  [inspect.custom](): string {
    return '***';
  }
}
