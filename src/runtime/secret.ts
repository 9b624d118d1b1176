/**
 * A secret that prints as `***` wherever it is logged, formatted or serialised by accident. During a rotation it has
 * several values: the present one, and earlier ones that are still accepted.
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

  /** Returns the present value and each earlier one, as secrets of their own. */
  each(): [Secret, ...Secret[]] {
    return [new Secret(this.#value), ...this.#earlier];
  }

  /** Returns the present value itself; call it only where the value leaves for its purpose. */
  reveal(): string {
    return this.#value;
  }

  /**
   * Returns true if a text equals this secret or an earlier value, in time that does not depend on where they differ.
   * The length and the number of secrets are not protected.
   */
  matches(text: string): boolean {
    this.#bytes ??= Buffer.from(this.#value);
    const given = Buffer.from(text);
    const isPresent = given.length === this.#bytes.length && timingSafeEqual(this.#bytes, given);
    return this.#earlier.reduce((isAny, one) => one.matches(text) || isAny, isPresent);
  }

  /** Returns a token for a purpose, which only the holder of the present value can make: base64url, 256 bits. */
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
