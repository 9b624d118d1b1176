/**
 * What one operation of an HTTP contract is: method, path, and the schemas of what goes in and what
 * comes out. Server validation, the OpenAPI document and the client's types all come from this one
 * description. Paths are relative to the base address of their API and mark arguments as `{name}`.
 */
import type { PublicAccess } from './access.ts';
import type { Static, TSchema } from './type.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Who may call it. Of public routes: a row of the table in `access.ts`. `host`: one host's token. `pool`: the
 * orchestrator's token. `gateway`: the gateways' token. `sender`: the token of senders of webhooks.
 */
export type Access = PublicAccess | 'host' | 'pool' | 'gateway' | 'sender' | 'admin';

/**
 * An operation as a tool of the MCP server. Its arguments are what the operation takes in path, query and body,
 * and `idempotencyKey` where it has that header.
 */
export type ToolShape = {
  name: string;
  /** For a model; absent: the operation's summary. */
  description?: string;
  /** Seconds that `wait` has where it is not given. */
  wait?: number;
  /** Members of the body that have another name as arguments, because something in the path has theirs. */
  as?: Readonly<Record<string, string>>;
  /** Of a call: its kind. Where its `input` has a schema, the members of that are arguments. */
  call?: { kind: string; input?: TSchema };
  /**
   * Member of the answer, and its values that mean that the work failed although the request was answered. The tool's
   * result then has `isError`.
   */
  failed?: { member: string; values: readonly string[] };
};

export type OperationShape = {
  id: string;
  summary: string;
  method: Method;
  path: string;
  access: Access;
  /**
   * What becomes of query parameters and body fields that the operation does not know: refused by name (the default
   * of public routes), or left alone, as clients of compatible groups expect.
   */
  unknown?: 'refused' | 'ignored';
  params?: TSchema;
  query?: TSchema;
  headers?: TSchema;
  body?: TSchema;
  /** Whether the body may be protobuf as well as JSON; it is answered in the same form, as OTLP has it. */
  protobuf?: true;
  /** Largest body in bytes, when it is not the API's default. */
  bodyBytes?: number;
  /** Answer schemas by status. `Type.Unsafe<Uint8Array>` with `format: binary` is sent as bytes. */
  answers: Record<number, TSchema>;
  /**
   * What it answers when there is no room for a request: 429, unless its clients lose what they send by that and try
   * again after 503 alone.
   */
  overload?: 503;
  /** Refusals of its own by status, in words. Clients get them as errors, like all others. */
  refusals?: Record<number, string>;
  /** What it is as tools of the MCP server; absent: none. */
  tools?: readonly ToolShape[];
};

/** Declares an operation; it only fixes the literal types. */
export const operation = <const Shape extends OperationShape>(shape: Shape): Shape => shape;

const isOperation = (value: unknown): value is OperationShape =>
  typeof value === 'object' && value !== null && 'answers' in value;

/** The operations of a module, which may export schemas beside them. */
export const operationsOf = (api: object): OperationShape[] =>
  Object.values(api).filter(isOperation);

type Part<Shape, Key extends string> = Key extends keyof Shape
  ? Shape[Key] extends TSchema
    ? Static<Shape[Key]>
    : undefined
  : undefined;

/** What a handler receives after validation. */
export type Input<Shape extends OperationShape> = {
  params: Part<Shape, 'params'>;
  query: Part<Shape, 'query'>;
  headers: Part<Shape, 'headers'>;
  body: Part<Shape, 'body'>;
};

/** What a handler answers: one of the declared statuses with its body. */
export type Answer<Shape extends OperationShape> = {
  [Status in keyof Shape['answers'] & number]: {
    status: Status;
    body: Shape['answers'][Status] extends TSchema ? Static<Shape['answers'][Status]> : never;
    headers?: Record<string, string>;
  };
}[keyof Shape['answers'] & number];

type Required<Shape, Key extends string> =
  Part<Shape, Key> extends undefined
    ? { [K in Key]?: undefined }
    : { [K in Key]: Part<Shape, Key> };

type Loose<Shape, Key extends string> =
  Part<Shape, Key> extends undefined
    ? { [K in Key]?: undefined }
    : { [K in Key]?: Part<Shape, Key> };

/** What a client gives: params and body as declared, query and headers when it wants to. */
export type ClientInput<Shape extends OperationShape> = Required<Shape, 'params'> &
  Required<Shape, 'body'> &
  Loose<Shape, 'query'> &
  Loose<Shape, 'headers'> & {
    signal?: AbortSignal;
    /** How long the answer may take, in milliseconds; absent: as long as it likes. */
    answerMs?: number;
  };
