/**
 * A secret that prints as `***` wherever it is logged, formatted or serialised by accident. While it is replaced
 * it has several values: the present one, and those before it, which are still taken.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { inspect } from 'node:util';

export class Secret {
  readonly #value: string;
  readonly #earlier: readonly Secret[];
  #bytes: Buffer | undefined;

  constructor(value: string, earlier: readonly string[] = []) {
    this.#value = value;
    this.#earlier = earlier.map((one) => new Secret(one));
  }

  /** The present value and each before it, as secrets of their own. */
  each(): [Secret, ...Secret[]] {
    return [new Secret(this.#value), ...this.#earlier];
  }

  /** The present value itself; call it only where the value leaves for its purpose. */
  reveal(): string {
    return this.#value;
  }

  /**
   * Whether a given text is this secret or one before it, in time that does not depend on where they differ. How
   * long secrets are, and how many, is none.
   */
  matches(text: string): boolean {
    this.#bytes ??= Buffer.from(this.#value);
    const given = Buffer.from(text);
    const isPresent = given.length === this.#bytes.length && timingSafeEqual(this.#bytes, given);
    return this.#earlier.reduce((isAny, one) => one.matches(text) || isAny, isPresent);
  }

  /** A token for a purpose, which only the holder of the present value can make: base64url, 256 bits. */
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
