/**
 * Writes answers. If the request is protobuf and the operation accepts protobuf, the answer is protobuf; otherwise it
 * has the form that the operation declares.
 */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '#wire/operation.ts';
import { jsonBody } from '../../base/json/json-text.ts';
import { formOf, protobufType, writeAnswer } from './body-forms.ts';
import type { RefusalBody } from './endpoint.ts';

/** Part of an operation's declaration that its handlers and hooks need, kept in the `config` of its route. */
export type RouteConfig = {
  access?: Access;
  operation?: string;
  overload?: 503 | undefined;
  protobuf?: true | undefined;
  refusalBody?: RefusalBody | undefined;
};

/** Returns the `config` of the route that a request was routed to. */
export const configOf = ({ routeOptions }: FastifyRequest): RouteConfig =>
  routeOptions.config as RouteConfig;

/** Returns true if the request's body is protobuf and the operation accepts protobuf. */
export const isProtobuf = (request: FastifyRequest): boolean =>
  configOf(request).protobuf === true && formOf(request.headers['content-type']) === 'protobuf';

export const sendBytes = (reply: FastifyReply, bytes: Uint8Array): FastifyReply =>
  reply.send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));

/**
 * Sends a body as JSON, bytes, a stream or protobuf. If a stream fails after the headers were sent, `broke` is called
 * with the error.
 */
export const sendAnswer = (
  reply: FastifyReply,
  status: number,
  body: unknown,
  broke: (error: Error) => void,
): FastifyReply => {
  reply.code(status);
  if (isProtobuf(reply.request)) return sendBytes(reply.type(protobufType), writeAnswer(body));
  if (body instanceof Uint8Array) {
    if (!reply.hasHeader('content-type')) reply.type('application/octet-stream');
    return sendBytes(reply, body);
  }
  if (body instanceof Readable) {
    if (!reply.hasHeader('content-type')) reply.type('application/octet-stream');
    return reply.send(body.once('error', broke));
  }
  if (body === undefined) return reply.send();
  const json = jsonBody(body);
  if (json instanceof Readable) json.once('error', broke);
  return reply.type('application/json; charset=utf-8').send(json);
};
