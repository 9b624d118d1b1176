/**
 * Binds one operation of a contract to the function that does it. An endpoint knows nothing of the
 * HTTP server: it takes what its operation's schemas let through and answers one of the declared
 * statuses, or throws.
 */
import type { Readable } from 'node:stream';
import type { FieldProblem } from '#domain/error.ts';
import type { Access, Answer, Input, OperationShape } from '#wire/operation.ts';
import type { Kept } from '../bodies/keep.ts';
import type { KeyLevel } from '../tokens/tokens.ts';

/** A client that authenticated with a project's key pair (`secret`) or with its public key alone. */
export type ProjectCaller = { projectId: string; publicKey: string; level: KeyLevel };
/** A world host, the address that it speaks from, and whether it does with the token of its launch. */
export type HostCaller = { hostId: string; source: string; isFirst: boolean };
export type PoolCaller = { pool: true };
export type GatewayCaller = { gateway: true };
export type SenderCaller = { sender: true };
export type AdminCaller = { admin: true };
export type Caller =
  | ProjectCaller
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
export const respondStream = (stream: Readable, bytes: number) => ({
  status: 200 as const,
  body: stream as unknown as Uint8Array,
  headers: { 'content-length': String(bytes) },
});
