/**
 * Description of one operation of an HTTP contract: its method, path, and the schemas of its input and answers. Server
 * validation, the OpenAPI document and the client's types all come from it. Paths are relative to the base address of
 * their API and mark arguments as `{name}`.
 */
import type { PublicAccess } from './access.ts';
import type { Static, TSchema } from './type.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Permission that an operation requires. Public routes name a row of the table in `access.ts`. The others name the
 * program whose token is required: `host`, one host; `pool`, the orchestrator; `gateway`, the gateways; `sender`, the
 * webhook senders; `admin`, the operator.
 */
export type Access = PublicAccess | 'host' | 'pool' | 'gateway' | 'sender' | 'admin';

/**
 * An operation as a tool of the MCP server. Its arguments are the operation's path and query parameters and body
 * members, and `idempotencyKey` if it has that header.
 */
export type ToolShape = {
  name: string;
  /** Description for a model; if absent, the operation's summary is used. */
  description?: string;
  /** Default of the argument `wait`, in seconds. */
  wait?: number;
  /** Argument names for body members whose own name is already that of a path parameter. */
  as?: Readonly<Record<string, string>>;
  /** Kind of the call that the tool makes. If `input` has a schema, its members become arguments. */
  call?: { kind: string; input?: TSchema };
  /**
   * Member of the answer, and those of its values that mean that the work failed although the request succeeded. The
   * tool's result then has `isError`.
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
   * Treatment of unknown query parameters and body fields: refused with an error that names them (the default of public
   * routes), or ignored, as clients of compatible groups expect.
   */
  unknown?: 'refused' | 'ignored';
  params?: TSchema;
  query?: TSchema;
  headers?: TSchema;
  body?: TSchema;
  /** True if the body may also be protobuf. The answer then has the same form, as OTLP requires. */
  protobuf?: true;
  /** Maximum size of the body in bytes, if it differs from the API's default. */
  bodyBytes?: number;
  /** Answer schemas by status. `Type.Unsafe<Uint8Array>` with `format: binary` is sent as bytes. */
  answers: Record<number, TSchema>;
  /**
   * Status that is answered when the server is overloaded, instead of 429: some clients lose their data on 429 and
   * retry only after 503.
   */
  overload?: 503;
  /**
   * Errors specific to the operation, by status, as text for the docs. Clients receive them as errors, like all others.
   */
  refusals?: Record<number, string>;
  /** Tools of the MCP server for this operation; if absent, there are none. */
  tools?: readonly ToolShape[];
};

/** Declares an operation. The function returns its argument; it only makes TypeScript infer literal types. */
export const operation = <const Shape extends OperationShape>(shape: Shape): Shape => shape;

/** Operation as `getOperation` and `deleteOperation` take it: with one answer, which has status 200. */
type PlainShape = Omit<OperationShape, 'method' | 'answers'> & { answer: TSchema };

type Declared<Shape extends PlainShape, Verb extends Method> = Omit<Shape, 'answer'> & {
  method: Verb;
  answers: { 200: Shape['answer'] };
};

const withAnswer = <Shape extends PlainShape, Verb extends Method>(
  method: Verb,
  { answer, ...shape }: Shape,
): Declared<Shape, Verb> => ({ ...shape, method, answers: { 200: answer } });

/** Declares an operation with method GET whose only answer, with status 200, is `answer`. */
export const getOperation = <const Shape extends PlainShape>(
  shape: Shape,
): Declared<Shape, 'GET'> => withAnswer('GET', shape);

/** Declares an operation with method DELETE whose only answer, with status 200, is `answer`. */
export const deleteOperation = <const Shape extends PlainShape>(
  shape: Shape,
): Declared<Shape, 'DELETE'> => withAnswer('DELETE', shape);

const isOperation = (value: unknown): value is OperationShape =>
  typeof value === 'object' && value !== null && 'answers' in value;

/** Returns the operations of a module, which may also export schemas. */
export const operationsOf = (api: object): OperationShape[] =>
  Object.values(api).filter(isOperation);

type Part<Shape, Key extends string> = Key extends keyof Shape
  ? Shape[Key] extends TSchema
    ? Static<Shape[Key]>
    : undefined
  : undefined;

/** Input that a handler receives after validation. */
export type Input<Shape extends OperationShape> = {
  params: Part<Shape, 'params'>;
  query: Part<Shape, 'query'>;
  headers: Part<Shape, 'headers'>;
  body: Part<Shape, 'body'>;
};

/** Answer of a handler: one of the declared statuses with its body. */
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

/** Input that a client gives: params and body as declared, query and headers optional. */
export type ClientInput<Shape extends OperationShape> = Required<Shape, 'params'> &
  Required<Shape, 'body'> &
  Loose<Shape, 'query'> &
  Loose<Shape, 'headers'> & {
    signal?: AbortSignal;
    /** Time limit for the answer, in milliseconds; absent: no limit. */
    answerMs?: number;
  };
