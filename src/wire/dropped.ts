/**
 * Interim response with which a host announces that it will close a connection without an answer on purpose, because
 * the world declares that fault. The gateway then closes the client's connection, too, instead of answering that the
 * host failed. The code of a world cannot forge the announcement, since it cannot send interim responses.
 */

/** Header of the interim response, in lower case. */
export const droppedHeader = 'svc-dropped';

/** Bytes of the interim response. */
export const droppedInterim = `HTTP/1.1 100 Continue\r\n${droppedHeader}: declared\r\n\r\n`;
