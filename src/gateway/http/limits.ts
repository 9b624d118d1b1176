/** Limits and timeouts of one gateway. Times are in milliseconds. */
export type Limits = {
  /** Bytes of the request line and headers together. */
  headerBytes: number;
  bodyBytes: number;
  /** Client connections, idle ones included. Further connections are closed when they arrive. */
  connections: number;
  /** Open requests and tunnels of one session. */
  perSession: number;
  /** Sessions whose routes are cached. */
  routes: number;
  /** Timeout from the first byte of a request, or from the connection, to the end of its headers. */
  headersMs: number;
  /**
   * Timeout for a client to send the next byte of a body, or to read more of its answer. After it the client is cut
   * off.
   */
  clientMs: number;
  /** Time that a connection without a request is kept open. */
  keepAliveMs: number;
  /** Timeout for a connection to a host. */
  connectMs: number;
  /** Timeout for a host to send the head of its answer, and then each piece of it. */
  answerMs: number;
  /** Time that a tunnel without traffic in either direction is kept open. */
  tunnelMs: number;
  /** Time that a half-closed tunnel without traffic is kept open. */
  halfClosedMs: number;
};
