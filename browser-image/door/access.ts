/**
 * Who may come in. A token in the `Authorization` header opens DevTools; a one-time ticket in the address opens DevTools
 * or the live view, where it becomes a cookie, as pages cannot send headers. All of it is of one session and void when
 * the next one begins.
 */
import { newSecret } from '#domain/id.ts';
import { Secret } from '#runtime/secret.ts';

export type TicketUse = { for: 'cdp' } | { for: 'view'; isReadOnly: boolean };

/** What the door asks of it. */
export type DoorAccess = Pick<Access, 'hasToken' | 'letIn' | 'passOf'> & {
  redeem<For extends TicketUse['for']>(
    text: string,
    use: For,
  ): Redeemed<For> | Promise<Redeemed<For>>;
};

/** What a ticket is good for; undefined when it is none. */
export type Redeemed<For> = Extract<TicketUse, { for: For }> | undefined;

export type Access = {
  /** Begins a session: all that was given out before is void. Resolves to the token. */
  renew(): string;
  /** Gives out a ticket that lets in once, within ten minutes. */
  issue(use: TicketUse): string;
  /** Takes a ticket, which is then used up; undefined when it is none of these. */
  redeem<For extends TicketUse['for']>(text: string, use: For): Redeemed<For>;
  /** Whether an `Authorization` header has the token. */
  hasToken(header: string | undefined): boolean;
  /** `Set-Cookie` for a viewer who was let in. */
  letIn(isReadOnly: boolean): string;
  /** What a `Cookie` header allows; undefined when nothing. */
  passOf(header: string | undefined): { isReadOnly: boolean } | undefined;
};

const ticketMs = 10 * 60_000;
/** Of each kind there are so many at once; the oldest goes. */
const most = 200;
const cookieName = 'svc-view';

const keep = <Value>(map: Map<string, Value>, key: string, value: Value): void => {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
};

/** Makes the access of a program; before `renew` it lets nobody in. */
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
    letIn(isReadOnly) {
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
