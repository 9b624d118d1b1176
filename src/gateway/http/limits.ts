/** Limits and timeouts of one gateway. Times are in milliseconds. */
export type Limits = {
  /** Maximum size of the request line and headers together, in bytes. */
  headerBytes: number;
  bodyBytes: number;
  /** Maximum number of client connections, including idle ones. A connection beyond it is closed when it arrives. */
  connections: number;
  /** Maximum number of open requests and tunnels of one session. */
  perSession: number;
  /** Maximum number of sessions whose routes are cached. */
  routes: number;
  /** Timeout from the first byte of a request, or from the connection, to the end of its headers. */
  headersMs: number;
  /**
   * Time within which a client must send the next byte of a body, or read more of its answer. After it the connection
   * is closed.
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
