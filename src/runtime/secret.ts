/** A secret that prints as `***` wherever it is logged, formatted or serialised by accident. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { inspect } from 'node:util';

export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself; call it only where the value leaves for its purpose. */
  reveal(): string {
    return this.#value;
  }

  /** Whether a given text is this secret, in time that does not depend on where they differ. */
  matches(text: string): boolean {
    return equalInConstantTime(this.#value, text);
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

/** Compares two texts without telling by its duration where they differ. */
export const equalInConstantTime = (a: string, b: string): boolean => {
  const left = createHmac('sha256', 'compare').update(a).digest();
  const right = createHmac('sha256', 'compare').update(b).digest();
  return timingSafeEqual(left, right);
};
