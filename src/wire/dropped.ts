/**
 * How a host tells a gateway that it closes a connection without an answer on purpose, because a declared fault of its
 * world says so: by an interim answer, which no code of a world can send. The gateway then closes the client's
 * connection as well, in place of answering for a host that failed.
 */

/** The header of the interim answer, in lower case. */
export const droppedHeader = 'svc-dropped';

/** The interim answer as it is sent. */
export const droppedInterim = `HTTP/1.1 100 Continue\r\n${droppedHeader}: declared\r\n\r\n`;
