/** What goes to a server and comes back, whatever way it takes. */

export type Sent = {
  method: string;
  headers: Record<string, string>;
  body?: string;
};

export type Exchanged = { status: number; contentType: string; bytes: Buffer };

/** Who waits for an answer: one of these is called, once. */
export type Told = { done(answer: Exchanged): void; failed(error: Error): void };

/** An exchange that has begun. */
export type Underway = {
  /** Ends it; who waits is told the error. Once it has ended this does nothing. */
  cut(error: Error): void;
};

/** A machine that does not take a connection within this time is not there. */
export const connectMs = 10_000;

/** As the system says when it gives up. */
export const lateConnection = (): Error => {
  const late = new Error(`no connection in ${connectMs / 1000} s`);
  return Object.assign(late, { code: 'ETIMEDOUT', syscall: 'connect' });
};
