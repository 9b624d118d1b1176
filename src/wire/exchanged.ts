/** Types and limits that exchanges with and without TLS share: a request, its answer, and the callbacks. */

export type Sent = {
  method: string;
  headers: Record<string, string>;
  body?: string;
};

export type Exchanged = { status: number; contentType: string; bytes: Buffer };

/** Callbacks of an exchange: exactly one of them is called, once. */
export type Callbacks = { done(answer: Exchanged): void; failed(error: Error): void };

/** An exchange in progress. */
export type Underway = {
  /** Ends the exchange and passes the error to `failed`. It does nothing once the exchange has ended. */
  cut(error: Error): void;
};

/** Timeout of a connection attempt: a machine that does not accept within this time counts as unreachable. */
export const connectMs = 10_000;

/** Builds the error of a connection timeout, in the form of the system's own. */
export const lateConnection = (): Error => {
  const late = new Error(`no connection within ${connectMs / 1000} s`);
  return Object.assign(late, { code: 'ETIMEDOUT', syscall: 'connect' });
};
