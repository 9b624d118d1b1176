/**
 * Checks access to the browser of a session of the service. The token is the session's own, and passes are signed with
 * it. Both therefore stay valid at the session's next browser. One-time links are redeemed at the control plane.
 */
import { AppError } from '#domain/error.ts';
import type { LinkScope } from '#domain/session.ts';
import type { Log } from '#runtime/log.ts';
import { Secret } from '#runtime/secret.ts';
import { createPasses, type Passes } from '#runtime/surface-pass.ts';
import type { ClientAccess, Redeemed, TicketUse } from './access.ts';

export type SessionAccess = ClientAccess & {
  /** Admits the clients and viewers of a session from now on. `scheme` is the one that clients use to connect. */
  begin(session: { sessionId: string; token: string; scheme: 'http' | 'https' }): void;
  /** Admits no clients or viewers any more. */
  end(): void;
};

export type SessionAccessOptions = {
  /**
   * Redeems a link at the control plane and returns its scope; undefined if it is no longer valid. Throws if the
   * control plane gives no answer.
   */
  consumeLink(sessionId: string, token: string): Promise<LinkScope | undefined>;
  log: Log;
};

type Present = { sessionId: string; token: Secret; passes: Passes };

const mostTokenChars = 200;

/** Returns the use that a link of a scope permits. */
const useOf = (scope: LinkScope): TicketUse =>
  scope === 'devtools' ? { for: 'cdp' } : { for: 'view', isReadOnly: scope === 'view' };

/** Creates the access check; it admits no client before `begin`. */
export const createSessionAccess = ({ consumeLink, log }: SessionAccessOptions): SessionAccess => {
  let present: Present | undefined;

  const scopeOf = async (sessionId: string, text: string): Promise<LinkScope | undefined> => {
    try {
      return await consumeLink(sessionId, text);
    } catch (err) {
      log.warn({ err }, 'a link could not be checked');
      throw new AppError('unavailable', 'the link cannot be checked now; open it again');
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
    issuePass(isReadOnly) {
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
