/**
 * The two MCP servers, as operations: one for a project, one for each session. A body is one JSON-RPC 2.0 message, or
 * in earlier revisions of the protocol a short batch. The protocol defines the messages, so this contract does not
 * describe them. An answer is JSON, or an event stream if it takes longer.
 */
import { limits } from '#domain/limits.ts';
import { operation } from '../../operation.ts';
import { Empty, traceParentHeader } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';

/** Maximum number of messages in a batch; later revisions of the protocol have no batches. */
export const mostMessages = 20;

const RequestId = Type.Union([
  Type.String({ maxLength: limits.nameChars }),
  Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
]);

/** A JSON-RPC request, a notification (a request without `id`), or a client's response to a request of the server. */
export const RpcMessage = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Optional(RequestId),
    method: Type.Optional(Type.String({ minLength: 1, maxLength: limits.nameChars })),
    params: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { maxProperties: 100 })),
  },
  { description: 'a JSON-RPC 2.0 message' },
);
export type RpcMessage = Static<typeof RpcMessage>;

const Body = Type.Union([
  RpcMessage,
  Type.Array(RpcMessage, { minItems: 1, maxItems: mostMessages }),
]);
export type RpcBody = Static<typeof Body>;

const Headers = Type.Object({
  accept: Type.Optional(
    Type.String({
      maxLength: 1_000,
      description:
        'media types that the client accepts; must include `application/json` and `text/event-stream`, otherwise the answer is 406',
    }),
  ),
  'mcp-protocol-version': Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'the negotiated protocol revision, or that of the message; absent: 2025-03-26',
    }),
  ),
  'mcp-method': Type.Optional(
    Type.String({ maxLength: 1_000, description: 'since 2026-07-28: the `method` of the message' }),
  ),
  'mcp-name': Type.Optional(
    Type.String({
      maxLength: 10_000,
      description:
        'since 2026-07-28: name of the tool that is called, or URI of the resource that is read',
    }),
  ),
});

const SessionHeaders = Type.Interface([Headers], {
  traceparent: traceParentHeader(
    'of the client; a call is recorded in that trace, within that span',
  ),
});

/** Error answer to a request that is not valid JSON-RPC. */
const RpcRefusal = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Union([RequestId, Type.Null()], { description: 'null if no request can be identified' }),
  error: Type.Object({
    code: Type.Integer(),
    message: Type.String(),
    data: Type.Optional(
      Type.Unknown({ description: 'the invalid fields, or the supported revisions' }),
    ),
  }),
});

const answers = {
  200: Type.Unknown({
    description: 'the response to a request, or a list of responses to a batch',
  }),
  202: Empty,
  400: RpcRefusal,
  404: RpcRefusal,
  406: RpcRefusal,
  413: RpcRefusal,
  415: RpcRefusal,
};
const refusals = {
  403: 'The `Host` or `Origin` of the request does not belong to this service, or the key lacks the permission.',
};

export const callService = operation({
  id: 'callService',
  summary: 'The MCP server of the project; it uses Streamable HTTP without MCP sessions',
  method: 'POST',
  path: '/mcp',
  access: 'mcp',
  query: Type.Object(
    {
      project_id: Type.Optional(
        Type.String({
          maxLength: limits.idChars,
          description: 'id of the project; required with a personal access token',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  headers: Headers,
  body: Body,
  bodyBytes: limits.worldBodyBytes,
  answers,
  refusals,
});

export const callSessionServer = operation({
  id: 'callSessionServer',
  summary:
    'The MCP server of a session with the tools of its task; it uses Streamable HTTP without MCP sessions',
  method: 'POST',
  path: '/world-sessions/{sessionId}/mcp',
  access: 'session',
  params: Type.Object({ sessionId: Type.String({ maxLength: 64 }) }),
  headers: SessionHeaders,
  body: Body,
  // Input of a call, and the JSON-RPC message around it.
  bodyBytes: limits.callInputBytes + 64 * 1024,
  answers,
  refusals,
});
