/**
 * Interim response with which a host announces that it closes a connection without an answer on purpose, because the
 * world declares that fault. Code of a world cannot send interim responses. The gateway then closes the client's
 * connection, too, instead of answering for a failed host.
 */

/** Header of the interim response, in lower case. */
export const droppedHeader = 'svc-dropped';

/** Bytes of the interim response. */
export const droppedInterim = `HTTP/1.1 100 Continue\r\n${droppedHeader}: declared\r\n\r\n`;
