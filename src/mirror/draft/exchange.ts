/** Requests and answers as they were seen, by a browser or on their way through a proxy. */

export type SeenExchange = {
  method: string;
  url: string;
  status: number;
  /** Of the answer, by name in lower case. */
  headers: Record<string, string>;
  /** JSON of both bodies; undefined where there was none, or it was something else. */
  request: unknown;
  body: unknown;
  /** Which way the client was let in, without the credential. */
  auth: { scheme: 'bearer' | 'basic' } | { scheme: 'header'; name: string } | undefined;
  at: string;
};
