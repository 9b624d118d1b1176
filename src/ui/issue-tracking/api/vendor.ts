/**
 * Client of the world's own API, below the prefix that `[ui] api_path` names. Errors are shown in the vendor's words,
 * at the input of the field that they name, or for the request as a whole.
 */
import { type Answer, AskError, errorOf, exchange, isGood } from '../../host/ask.ts';

const apiPath = '/__world-api';

type Refused = { errorMessages?: unknown; errors?: unknown };

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

/** Returns the vendor's messages about fields, by field name. */
export const faultsOf = (error: unknown): Record<string, string> => {
  if (!(error instanceof AskError)) return {};
  const { errors } = (error.answer ?? {}) as Refused;
  if (typeof errors !== 'object' || errors === null || Array.isArray(errors)) return {};
  return Object.fromEntries(Object.entries(errors).map(([name, words]) => [name, String(words)]));
};

const refusalOf = (answer: Answer): AskError => {
  const error = errorOf(answer);
  const { errorMessages } = (answer.value ?? {}) as Refused;
  const words = [...textsIn(errorMessages), ...Object.values(faultsOf(error))];
  if (words.length === 0) return error;
  return new AskError(error.status, words.join(' '), [], { answer: answer.value });
};

/** Sends a request and returns the body of the answer. Throws `AskError`. */
export const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
  const answer = await exchange(method, `${apiPath}${path}`, body);
  if (!isGood(answer)) throw refusalOf(answer);
  return answer.value as T;
};

/** Returns a path of API version 3, whose rich text is a document: `pathOf('issue', 'BERTH-1')`. */
export const pathOf = (...parts: string[]): string =>
  ['/rest/api/3', ...parts.map(encodeURIComponent)].join('/');

/** Returns a path of API version 2, whose rich text is markup, which people can edit. */
export const markupPathOf = (...parts: string[]): string =>
  ['/rest/api/2', ...parts.map(encodeURIComponent)].join('/');

export type Query = Record<string, string | number>;

export const withQuery = (path: string, query: Query): string => {
  const texts = Object.entries(query).map(([name, value]) => [name, String(value)]);
  return texts.length === 0 ? path : `${path}?${new URLSearchParams(texts)}`;
};
