/**
 * Binds one operation of a contract to the function that performs it. An endpoint is independent of the HTTP server: it
 * gets input that passed the operation's schemas, and returns one of the declared statuses or throws.
 */
import type { Readable } from 'node:stream';
import type { Role } from '#domain/account.ts';
import type { FieldProblem } from '#domain/error.ts';
import type { Access, Answer, Input, OperationShape } from '#wire/operation.ts';
import type { Kept } from '../../base/bodies/keep.ts';
import type { Actor } from '../../db/projects/audit.ts';
import type { BearerRow } from '../../db/projects/tokens.ts';
import type { KeyLevel } from '../../platform/tokens/tokens.ts';

/**
 * Credential that a client authenticated with. `rateLimit` is the number of requests a minute that the project allows
 * the credential; null if the project sets none.
 */
export type Credential = { id: string; rateLimit: number | null };
/**
 * Client of a project. Its level is `secret` with the key pair and `public` with the public key alone. With a person's
 * token on MCP, the level depends on what the user may do.
 */
export type ProjectCaller = {
  projectId: string;
  /**
   * Identity recorded as the author of what the client creates: a public key, or the e-mail address of a token's user.
   */
  publicKey: string;
  level: KeyLevel;
  credential?: Credential;
};
/** Client of the account routes. */
export type AccountCaller = {
  organizationId: string;
  /** Project that the route is about, or that a key pair belongs to; null if there is none. */
  atProject: string | null;
  /** Role in the project on routes of a project, otherwise in the organization. */
  role: Role;
  actor: Actor;
  /** Personal access token of the client; null if the client used a key. */
  token: BearerRow | null;
  credential: Credential;
};
/** Client with a session's token, which is valid for that session alone. */
export type SessionCaller = { projectId: string; sessionId: string };
/** World host, the address that it connects from, and whether it uses its launch token. */
export type HostCaller = { hostId: string; source: string; isFirst: boolean };
export type PoolCaller = { pool: true };
export type GatewayCaller = { gateway: true };
export type SenderCaller = { sender: true };
export type AdminCaller = { admin: true };
export type Caller =
  | ProjectCaller
  | AccountCaller
  | SessionCaller
  | HostCaller
  | PoolCaller
  | GatewayCaller
  | SenderCaller
  | AdminCaller;

type CallerOf<Who extends Access> = Who extends 'host'
  ? HostCaller
  : Who extends 'pool'
    ? PoolCaller
    : Who extends 'gateway'
      ? GatewayCaller
      : Who extends 'sender'
        ? SenderCaller
        : Who extends 'admin'
          ? AdminCaller
          : Who extends 'session'
            ? ProjectCaller | SessionCaller
            : Who extends 'project'
              ? AccountCaller & { atProject: string }
              : Who extends 'projects' | 'organization' | 'owner' | 'self'
                ? AccountCaller
                : ProjectCaller;

export type Context<Who extends Access> = {
  caller: CallerOf<Who>;
  /**
   * Aborts when the client disconnects before its answer is sent. The signal only ends waits early; work under way is
   * completed.
   */
  signal: AbortSignal;
};

/** Parts of a request, before and after they are checked. */
export type RequestParts = { params: unknown; query: unknown; headers: unknown; body: unknown };

/**
 * Builds the body of an answer to an invalid request, for operations that declare a body other than the common error.
 */
export type RefusalBody = (problems: readonly FieldProblem[], message: string) => unknown;

export type Endpoint = {
  operation: OperationShape;
  refusalBody: RefusalBody | undefined;
  /**
   * For operations that yield to opens of sessions: called and awaited before the body is read
   * (`base/fairness/open-priority.ts`).
   */
  yieldToOpens?: () => Promise<void>;
  handle(
    input: RequestParts,
    context: { caller: Caller; signal: AbortSignal },
  ): Promise<{ status: number; body: unknown; headers?: Record<string, string> }>;
};

/**
 * Input of a handler: the parts of the request as declared. Some operations get the body in the form that `keep.ts`
 * defines.
 */
export type Given<Shape extends OperationShape> = Omit<Input<Shape>, 'body'> & {
  body: Kept<Shape['id'], Input<Shape>['body']>;
};

/**
 * Declares how an operation is performed. The types are those of the operation. The server guarantees them: before
 * each call it checks the input against the operation's schemas and the caller against its access.
 */
export const endpoint = <const Shape extends OperationShape>(
  operation: Shape,
  handle: (input: Given<Shape>, context: Context<Shape['access']>) => Promise<Answer<Shape>>,
  refusalBody?: RefusalBody,
): Endpoint => ({ operation, refusalBody, handle: handle as unknown as Endpoint['handle'] });

/** Builds an answer whose status is a literal type. */
export const respond = <const Status extends number, Body>(
  status: Status,
  body: Body,
): { status: Status; body: Body } => ({ status, body });

/** Builds an answer whose bytes are read while they are sent. If the stream fails, the answer is cut off. */
export const respondStream = (
  stream: Readable,
  bytes: number,
  headers: Record<string, string> = {},
) => ({
  status: 200 as const,
  body: stream as unknown as Uint8Array,
  headers: { 'content-length': String(bytes), ...headers },
});
