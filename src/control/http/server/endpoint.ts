/**
 * Binds one operation of a contract to the function that does it. An endpoint knows nothing of the
 * HTTP server: it takes what its operation's schemas let through and answers one of the declared
 * statuses, or throws.
 */
import type { Readable } from 'node:stream';
import type { Role } from '#domain/account.ts';
import type { FieldProblem } from '#domain/error.ts';
import type { Access, Answer, Input, OperationShape } from '#wire/operation.ts';
import type { Kept } from '../../base/bodies/keep.ts';
import type { Actor } from '../../db/projects/audit.ts';
import type { BearerRow } from '../../db/projects/tokens.ts';
import type { KeyLevel } from '../../platform/tokens/tokens.ts';

/** What a client showed, by its id; `rateLimit` is how many requests a minute its project lets it make. */
export type Credential = { id: string; rateLimit: number | null };
/**
 * A client in a project: with its key pair (`secret`) or its public key alone (`public`), or by MCP with a person's
 * token, which counts as one or the other by what its user may.
 */
export type ProjectCaller = {
  projectId: string;
  /** Who it is, as whose what it makes is noted: a public key, or the e-mail address of a token's user. */
  publicKey: string;
  level: KeyLevel;
  credential?: Credential;
};
/** A client of the routes of accounts. */
export type AccountCaller = {
  organizationId: string;
  /** The project that the route is about, or that a key pair is of. */
  atProject: string | null;
  /** What it may: in the project on routes of one, else in the organization. */
  role: Role;
  actor: Actor;
  /** Null: it is a key. */
  token: BearerRow | null;
  credential: Credential;
};
/** Who has the token of a session; it is good for that one alone. */
export type SessionCaller = { projectId: string; sessionId: string };
/** A world host, the address that it speaks from, and whether it does with the token of its launch. */
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
  /** Aborts when the client is gone before it has its answer. Only waits end by it. */
  signal: AbortSignal;
};

/** The parts of a request before and after they were checked. */
export type RequestParts = { params: unknown; query: unknown; headers: unknown; body: unknown };

/** The body of an answer to a request that is not what its operation takes, where that has a form of its own. */
export type RefusalBody = (problems: readonly FieldProblem[], message: string) => unknown;

export type Endpoint = {
  operation: OperationShape;
  refusalBody: RefusalBody | undefined;
  /** Waited for before the body is read, where what is sent lets others go first. */
  giveWay?: () => Promise<void>;
  handle(
    input: RequestParts,
    context: { caller: Caller; signal: AbortSignal },
  ): Promise<{ status: number; body: unknown; headers?: Record<string, string> }>;
};

/** What a handler gets: the parts as declared, and of some operations the body as `keep.ts` has it. */
export type Given<Shape extends OperationShape> = Omit<Input<Shape>, 'body'> & {
  body: Kept<Shape['id'], Input<Shape>['body']>;
};

/**
 * Declares how an operation is done. The types are the operation's own; that what comes in has them
 * is what the server checks, by the operation's schemas and access, before it calls.
 */
export const endpoint = <const Shape extends OperationShape>(
  operation: Shape,
  handle: (input: Given<Shape>, context: Context<Shape['access']>) => Promise<Answer<Shape>>,
  refusalBody?: RefusalBody,
): Endpoint => ({ operation, refusalBody, handle: handle as unknown as Endpoint['handle'] });

/** An answer, with its status as a literal type. */
export const respond = <const Status extends number, Body>(
  status: Status,
  body: Body,
): { status: Status; body: Body } => ({ status, body });

/** An answer of bytes that are read as they are sent. A stream that fails breaks the answer off. */
export const respondStream = (
  stream: Readable,
  bytes: number,
  headers: Record<string, string> = {},
) => ({
  status: 200 as const,
  body: stream as unknown as Uint8Array,
  headers: { 'content-length': String(bytes), ...headers },
});
