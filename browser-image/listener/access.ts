/**
 * Checks access to a browser that a parent process controls by lines. A token in the `Authorization` header opens
 * DevTools. A one-time ticket in the address opens DevTools or the live view; for the view it is exchanged for a
 * cookie, because pages cannot send headers. Token, tickets and cookies belong to one session and are void when the
 * next one begins.
 */
import { newSecret } from '#domain/id.ts';
import { Secret } from '#runtime/secret.ts';

export type TicketUse = { for: 'cdp' } | { for: 'view'; isReadOnly: boolean };

/** The part of the access check that the HTTP server uses. */
export type ClientAccess = Pick<Access, 'hasToken' | 'issuePass' | 'passOf'> & {
  redeem<For extends TicketUse['for']>(
    text: string,
    use: For,
  ): Redeemed<For> | Promise<Redeemed<For>>;
};

/** Use that a ticket permits; undefined if the ticket is not valid for it. */
export type Redeemed<For> = Extract<TicketUse, { for: For }> | undefined;

export type Access = {
  /** Begins a session: voids all tokens, tickets and passes issued before. Returns the new token. */
  renew(): string;
  /** Issues a ticket that is valid once, within ten minutes. */
  issue(use: TicketUse): string;
  /** Redeems a ticket, which is then used up; returns undefined if it is not valid for this use. */
  redeem<For extends TicketUse['for']>(text: string, use: For): Redeemed<For>;
  /** Returns true if an `Authorization` header contains the token. */
  hasToken(header: string | undefined): boolean;
  /** Returns the `Set-Cookie` value for a viewer who was admitted. */
  issuePass(isReadOnly: boolean): string;
  /** Returns the rights that the pass in a `Cookie` header gives; undefined without a valid pass. */
  passOf(header: string | undefined): { isReadOnly: boolean } | undefined;
};

const ticketMs = 10 * 60_000;
/** Maximum number of tickets, and of passes; beyond it the oldest is dropped. */
const most = 200;
const cookieName = 'svc-view';

const keep = <Value>(map: Map<string, Value>, key: string, value: Value): void => {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
};

/** Makes the access check of a program; it admits no client before `renew`. */
export const createAccess = (now: () => number = Date.now): Access => {
  let token: Secret | undefined;
  const tickets = new Map<string, { use: TicketUse; until: number }>();
  const passes = new Map<string, { isReadOnly: boolean }>();
  return {
    renew() {
      tickets.clear();
      passes.clear();
      const text = newSecret('st');
      token = new Secret(text);
      return text;
    },
    issue(use) {
      const text = newSecret('lt');
      keep(tickets, text, { use, until: now() + ticketMs });
      return text;
    },
    redeem(text, wanted) {
      const ticket = tickets.get(text);
      if (ticket === undefined || ticket.use.for !== wanted) return undefined;
      tickets.delete(text);
      return ticket.until < now() ? undefined : (ticket.use as never);
    },
    hasToken(header = '') {
      const [, given] = /^bearer +(\S+)$/i.exec(header) ?? [];
      return given !== undefined && token?.matches(given) === true;
    },
    issuePass(isReadOnly) {
      const pass = newSecret('lt');
      keep(passes, pass, { isReadOnly });
      return `${cookieName}=${pass}; Path=/view; HttpOnly; SameSite=Strict`;
    },
    passOf(header = '') {
      const values = header
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(`${cookieName}=`))
        .map((pair) => pair.slice(cookieName.length + 1));
      return values.map((value) => passes.get(value)).find((pass) => pass !== undefined);
    },
  };
};
