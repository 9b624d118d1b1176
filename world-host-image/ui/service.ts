/**
 * What the UI's own origin serves beside the page and the world's API: services of the host, below `/__svc/`.
 *
 * A service is a function `(request, session) => answer`. It is hung in where the host is wired (`program.ts`):
 * `createUiSurface({ services: { '/__svc/ui/': answerRows } })`, by the prefix of its paths, which begins with
 * `/__svc/` and ends with `/`; the longest prefix that fits a path is asked. Only a browser that has entered the
 * session gets there, from pages of this origin. The request comes without credentials, and its path whole. What a
 * service reads or writes it does through the session (`session.world.store.exclusively`), and notes in its ledger
 * (`via: 'ui'`). Answers are compressed and get the headers of the origin (`headers.ts`) on their way out.
 */
import type { ApiRequest } from '../api/requests/api-request.ts';
import type { Session } from '../session/session.ts';

/** Method, path, query, headers (names in lower case) and body, which is undefined beyond 1 MiB. */
export type UiRequest = ApiRequest;

export type UiAnswer = {
  status: number;
  /** Names in lower case; `content-type` is among them, `content-length` is not. */
  headers: Record<string, string | string[]>;
  /** Null: none. */
  body: string | Uint8Array | null;
};

/** What it throws is a fault of the host: the client is told 500, the log why. */
export type UiService = (request: UiRequest, session: Session) => Promise<UiAnswer>;

/** By the prefix of the paths that they answer. */
export type UiServices = Readonly<Record<string, UiService>>;

/** All paths of the host's own services; no file of a world is served there. */
export const servicePrefix = '/__svc/';

/** JSON as an answer; a text is taken for JSON already. */
export const uiJson = (status: number, body: unknown): UiAnswer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

/** The service of a path; undefined when there is none. */
export const serviceOf = (services: UiServices, path: string): UiService | undefined => {
  const prefixes = Object.keys(services).filter((prefix) => path.startsWith(prefix));
  const [longest] = prefixes.sort((a, b) => b.length - a.length);
  return longest === undefined ? undefined : services[longest];
};
