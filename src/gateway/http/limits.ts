/** What one gateway takes on, and how long it waits for whom. Times are in milliseconds. */
export type Limits = {
  /** Request line and headers together. */
  headerBytes: number;
  bodyBytes: number;
  /** Connections of clients, idle ones among them; more are closed as they come. */
  connections: number;
  /** Requests and tunnels under way to one session. */
  perSession: number;
  /** Sessions whose routes are remembered. */
  routes: number;
  /** From the first byte of a request, or from the connection, to the end of its headers. */
  headersMs: number;
  /** A client that owes the next byte of a body, or takes none of an answer, for so long is cut off. */
  clientMs: number;
  /** A connection without a request is kept for so long. */
  keepAliveMs: number;
  /** A host takes a connection within this time. */
  connectMs: number;
  /** A host says something within this time: the head of its answer, then each piece of it. */
  answerMs: number;
  /** A tunnel through which nothing goes either way is kept for so long. */
  tunnelMs: number;
  /** A tunnel of which one side has ended is kept for so long without traffic. */
  halfClosedMs: number;
};
