/**
 * Who may come in to the browser of a session of the service. The token is the session's own, and passes are signed with
 * it, so that both are good at the session's next browser, too; one-time links are used up at the control plane.
 */
import { AppError } from '#domain/error.ts';
import type { LinkScope } from '#domain/session.ts';
import type { Log } from '#runtime/log.ts';
import { Secret } from '#runtime/secret.ts';
import { createPasses, type Passes } from '#runtime/surface-pass.ts';
import type { DoorAccess, Redeemed, TicketUse } from './access.ts';

export type SessionAccess = DoorAccess & {
  /** Lets in those of a session from now on. `scheme` is how clients come to the door. */
  begin(session: { sessionId: string; token: string; scheme: 'http' | 'https' }): void;
  /** Lets nobody in. */
  end(): void;
};

export type SessionAccessOptions = {
  /** Uses a link up and answers what it opens; undefined when it is good no longer. Throws when nobody says. */
  consumeLink(sessionId: string, token: string): Promise<LinkScope | undefined>;
  log: Log;
};

type Present = { sessionId: string; token: Secret; passes: Passes };

const mostTokenChars = 200;

/** What a link of a scope is good for at the door. */
const useOf = (scope: LinkScope): TicketUse =>
  scope === 'devtools' ? { for: 'cdp' } : { for: 'view', isReadOnly: scope === 'view' };

/** Makes it; before `begin` it lets nobody in. */
export const createSessionAccess = ({ consumeLink, log }: SessionAccessOptions): SessionAccess => {
  let present: Present | undefined;

  const scopeOf = async (sessionId: string, text: string): Promise<LinkScope | undefined> => {
    try {
      return await consumeLink(sessionId, text);
    } catch (err) {
      log.warn({ err }, 'a link could not be checked');
      throw new AppError('unavailable', 'the link cannot be checked at present; open it once more');
    }
  };

  return {
    begin({ sessionId, token, scheme }) {
      const secret = new Secret(token);
      present = { sessionId, token: secret, passes: createPasses({ token: secret, scheme }) };
    },
    end() {
      present = undefined;
    },
    async redeem<For extends TicketUse['for']>(text: string, wanted: For): Promise<Redeemed<For>> {
      if (present === undefined || text === '' || text.length > mostTokenChars) return undefined;
      const scope = await scopeOf(present.sessionId, text);
      const use = scope === undefined ? undefined : useOf(scope);
      return use?.for === wanted ? (use as Redeemed<For>) : undefined;
    },
    hasToken(header = '') {
      const [, given] = /^bearer +(\S+)$/i.exec(header) ?? [];
      return given !== undefined && present?.token.matches(given) === true;
    },
    letIn(isReadOnly) {
      if (present === undefined) throw new AppError('unavailable', 'no session is served here now');
      const { sessionId, passes } = present;
      return passes.issue({ sessionId, surface: 'browser', isReadOnly });
    },
    passOf(header) {
      if (present === undefined) return undefined;
      const { sessionId, passes } = present;
      const surface = { sessionId, surface: 'browser' } as const;
      if (passes.check(surface, header)) return { isReadOnly: false };
      return passes.check({ ...surface, isReadOnly: true }, header)
        ? { isReadOnly: true }
        : undefined;
    },
  };
};
