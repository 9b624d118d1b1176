/**
 * A secret that appears as `***` wherever it is logged, formatted or serialised by accident. During a rotation it has
 * several values: the present value, and earlier values that are still accepted.
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

  /** Returns the present value and each earlier value, each as a secret of its own. */
  each(): [Secret, ...Secret[]] {
    return [new Secret(this.#value), ...this.#earlier];
  }

  /** Returns the present value in plain text. Call it only where the value is sent or used. */
  reveal(): string {
    return this.#value;
  }

  /**
   * Returns true if a text equals the present value or an earlier one. The time of the comparison does not depend on
   * where the texts differ; it may reveal the length and the number of values.
   */
  matches(text: string): boolean {
    this.#bytes ??= Buffer.from(this.#value);
    const given = Buffer.from(text);
    const isPresent = given.length === this.#bytes.length && timingSafeEqual(this.#bytes, given);
    return this.#earlier.reduce((isAny, one) => one.matches(text) || isAny, isPresent);
  }

  /** Returns a token for a purpose, in base64url with 256 bits. Only a holder of the present value can make it. */
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
