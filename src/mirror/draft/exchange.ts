/** Request and its answer, as observed in a browser or through a proxy. */

export type SeenExchange = {
  method: string;
  url: string;
  status: number;
  /** Headers of the answer, by name in lower case. */
  headers: Record<string, string>;
  /** Parsed JSON of both bodies; undefined for a body that is missing or is not JSON. */
  request: unknown;
  body: unknown;
  /** Authentication scheme of the client, without the credential. */
  auth: { scheme: 'bearer' | 'basic' } | { scheme: 'header'; name: string } | undefined;
  at: string;
};
