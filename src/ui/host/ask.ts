/**
 * Client of the session. It sends requests to the session's host, below `/__svc/ui/`, and to the world's own API at its
 * prefix.
 */

/** Error for display, with a hint at what to do next and with the problems of single fields. */
export class AskError extends Error {
  readonly status: number;
  readonly problems: readonly FieldProblem[];
  readonly hint: string;
  /** Body of the answer. */
  readonly answer: unknown;

  constructor(
    status: number,
    message: string,
    problems: readonly FieldProblem[] = [],
    { answer, hint = hintOf(status) }: { answer?: unknown; hint?: string } = {},
  ) {
    super(message);
    this.status = status;
    this.problems = problems;
    this.hint = hint;
    this.answer = answer;
  }
}

/** Problem of a field; `field` is '' if the row as a whole has the problem. */
export type FieldProblem = { field: string; pointer: string; message: string };

const hintOf = (status: number): string => {
  if (status === 0) return 'Look whether the session still runs, then try again.';
  if (status === 401 || status === 403) return 'Open the page by a new link of the session.';
  if (status === 410) return 'The session has ended. Open another one, and its page by its link.';
  if (status === 404) return 'Go back to the list, and look for it there.';
  if (status === 524) return 'Ask for fewer rows by a filter.';
  return status >= 500
    ? 'Wait a moment, then try again.'
    : 'Change what was asked, then try again.';
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const parse = (text: string): unknown => {
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return text; // vendors answer errors in other formats, too
  }
};

/**
 * Finds the message in a vendor's error. Vendors use many names for the member that holds it; the first text found is
 * taken.
 */
const wordsOf = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value.slice(0, 500);
  if (!isRecord(value)) return undefined;
  const names = ['message', 'error_description', 'detail', 'title', 'error', 'reason'];
  const found = names.map((name) => wordsOf(value[name])).find((words) => words !== undefined);
  return found ?? (Array.isArray(value.errors) ? wordsOf(value.errors[0]) : undefined);
};

const problemsOf = (value: unknown): FieldProblem[] =>
  isRecord(value) && Array.isArray(value.problems) ? (value.problems as FieldProblem[]) : [];

const send = async (method: string, address: string, body: unknown): Promise<Response> => {
  // Some vendors answer in another format unless JSON is requested.
  const accept = { accept: 'application/json' };
  const init: RequestInit =
    body === undefined
      ? { method, headers: accept }
      : {
          method,
          body: JSON.stringify(body),
          headers: { ...accept, 'content-type': 'application/json' },
        };
  try {
    // Vendors allow caching for a minute, in which a page would not see its own changes.
    return await fetch(address, {
      ...init,
      cache: 'no-store',
      credentials: 'same-origin',
      redirect: 'error',
    });
  } catch {
    throw new AskError(0, 'The session cannot be reached.');
  }
};

/** Answer with its parsed JSON and its headers. */
export type Answer = { status: number; value: unknown; headers: Headers };

/** Sends a request and returns the answer, whether success or error. Throws `AskError` if there is no answer. */
export const exchange = async (
  method: string,
  address: string,
  body?: unknown,
): Promise<Answer> => {
  const response = await send(method, address, body);
  const { status, headers } = response;
  return { status, headers, value: parse(await response.text()) };
};

export const isGood = ({ status }: Answer): boolean => status >= 200 && status < 300;

/** Converts an error answer into an `AskError`. */
export const errorOf = ({ status, value }: Answer): AskError => {
  const words = wordsOf(value) ?? `The session answered ${status}.`;
  return new AskError(status, words, problemsOf(value), { answer: value });
};

/** Sends a request and returns the JSON of the answer. Throws `AskError` for an error answer. */
export const ask = async (method: string, address: string, body?: unknown): Promise<unknown> => {
  const answer = await exchange(method, address, body);
  if (!isGood(answer)) throw errorOf(answer);
  return answer.value;
};
