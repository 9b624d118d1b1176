/**
 * Asks the world's own API, below the prefix that `[ui] api_path` names. What is refused is told in the vendor's words:
 * some of the whole, some at the field that they name.
 */
import { type Answer, AskError, errorOf, exchange, isGood } from '../../host/ask.ts';

const apiPath = '/__world-api';

type Refused = { errorMessages?: unknown; errors?: unknown };

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

/** What the vendor says of fields, by their names. */
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

/** The body that is answered. Throws `AskError`. */
export const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
  const answer = await exchange(method, `${apiPath}${path}`, body);
  if (!isGood(answer)) throw refusalOf(answer);
  return answer.value as T;
};

/** A path of version 3, whose rich text is a document: `pathOf('issue', 'BERTH-1')`. */
export const pathOf = (...parts: string[]): string =>
  ['/rest/api/3', ...parts.map(encodeURIComponent)].join('/');

/** The same of version 2, which reads and writes rich text as markup: what people type. */
export const markupPathOf = (...parts: string[]): string =>
  ['/rest/api/2', ...parts.map(encodeURIComponent)].join('/');

export type Query = Record<string, string | number>;

export const withQuery = (path: string, query: Query): string => {
  const texts = Object.entries(query).map(([name, value]) => [name, String(value)]);
  return texts.length === 0 ? path : `${path}?${new URLSearchParams(texts)}`;
};
