/**
 * Services of the host on the UI's own origin, at paths below `/__svc/`. The page and the world's API have the other
 * paths of the origin.
 *
 * A service is a function `(request, session) => answer`. It is registered where the host is put together
 * (`program.ts`): `createUiSurface({ services: { '/__svc/ui/': answerRows } })`. The key is the prefix of the service's
 * paths, which begins with `/__svc/` and ends with `/`; the longest matching prefix wins. Only a browser that has
 * entered the session can use a service, from pages of this origin. The request has its whole path and no credentials.
 * A service reads and writes through the session (`session.world.store.exclusively`), and records its requests in the
 * ledger (`via: 'ui'`). Its answers are then compressed and get the headers of the origin (`headers.ts`).
 */
import type { ApiRequest } from '../api/requests/api-request.ts';
import type { Session } from '../session/session.ts';

/**
 * Request with method, path, query, headers (names in lower case) and body. The body is undefined if it exceeds 1 MiB.
 */
export type UiRequest = ApiRequest;

export type UiAnswer = {
  status: number;
  /** Headers with names in lower case, including `content-type` but not `content-length`. */
  headers: Record<string, string | string[]>;
  /** Body; null for none. */
  body: string | Uint8Array | null;
};

/**
 * Service of the host. If it throws an error, that is a bug of the host: the client gets a 500, and the error is
 * logged.
 */
export type UiService = (request: UiRequest, session: Session) => Promise<UiAnswer>;

/** Services by the prefix of their paths. */
export type UiServices = Readonly<Record<string, UiService>>;

/** Prefix of all services of the host; no file of a world is served below it. */
export const servicePrefix = '/__svc/';

/** Returns a JSON answer. If the body is a string, it must already be JSON text. */
export const uiJson = (status: number, body: unknown): UiAnswer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

/** Returns the service of a path; undefined if there is none. */
export const serviceOf = (services: UiServices, path: string): UiService | undefined => {
  const prefixes = Object.keys(services).filter((prefix) => path.startsWith(prefix));
  const [longest] = prefixes.sort((a, b) => b.length - a.length);
  return longest === undefined ? undefined : services[longest];
};
