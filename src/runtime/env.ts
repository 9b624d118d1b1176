/**
 * Reads a program's configuration from environment variables and reports all mistakes together. Each program's
 * `config.ts` is one function that uses this module; only `main.ts` reads `process.env` itself.
 */
import { AppError } from '#domain/error.ts';
import { Secret } from './secret.ts';

export type Env = Readonly<Record<string, string | undefined>>;

export type EnvReader = {
  text(name: string, fallback?: string): string;
  optionalText(name: string): string | undefined;
  secret(name: string): Secret;
  /**
   * Reads a secret that can be rotated while programs run: several values separated by spaces, of which the first is
   * the present one.
   */
  rotatingSecret(name: string): Secret;
  integer(name: string, range: { min: number; max: number; fallback?: number }): number;
  choice<const Word extends string>(name: string, words: readonly Word[], fallback?: Word): Word;
  url(name: string, fallback?: string): string;
  /** Records a mistake that the program has found itself, because the reader cannot detect it. */
  refuse(mistake: string): void;
  /** Throws `invalid` with one line for each recorded mistake; does nothing if there is none. */
  finish(): void;
};

/** Creates a reader of one environment. Its methods record mistakes and continue; `finish` throws them. */
export const readEnv = (env: Env): EnvReader => {
  const mistakes: string[] = [];
  const given = (name: string): string | undefined => {
    const value = env[name]?.trim();
    return value === undefined || value === '' ? undefined : value;
  };
  const required = (name: string, fallback: string | undefined): string => {
    const value = given(name) ?? fallback;
    if (value === undefined) mistakes.push(`${name} is not set`);
    return value ?? '';
  };
  return {
    text: required,
    optionalText: given,
    secret: (name) => new Secret(required(name, undefined)),
    rotatingSecret(name) {
      const [present = '', ...earlier] = required(name, undefined).split(/\s+/);
      return new Secret(present, earlier);
    },
    integer(name, { min, max, fallback }) {
      const text = required(name, fallback?.toString());
      const value = Number(text);
      if (text !== '' && !(Number.isInteger(value) && value >= min && value <= max)) {
        mistakes.push(`${name} is "${text}", not a whole number from ${min} to ${max}`);
      }
      return value;
    },
    choice(name, words, fallback) {
      const text = required(name, fallback);
      const word = words.find((candidate) => candidate === text);
      if (text !== '' && word === undefined) {
        mistakes.push(`${name} is "${text}", not one of ${words.join(', ')}`);
      }
      return word ?? (words[0] as (typeof words)[number]);
    },
    url(name, fallback) {
      const text = required(name, fallback);
      if (text !== '' && !URL.canParse(text)) mistakes.push(`${name} is "${text}", not a URL`);
      return text.replace(/\/+$/, '');
    },
    refuse: (mistake) => {
      mistakes.push(mistake);
    },
    finish() {
      if (mistakes.length > 0) {
        throw new AppError('invalid', `configuration: ${mistakes.join('; ')}`);
      }
    },
  };
};
