/** Builds the OpenAPI document of the public API from the schemas that check its requests. */
import { type AccessRule, accessRules, isPublicAccess } from '#wire/access.ts';
import type { Access, OperationShape } from '#wire/operation.ts';
import { namedSchemas } from '#wire/public-api/named-schemas.ts';
import { protobufType } from './body-forms.ts';

type Json = { [key: string]: unknown };

type ObjectSchema = { properties?: Record<string, Json>; required?: string[] };

/** Returns the media type of an answer with this schema. */
const mediaTypeOf = (schema: unknown): string => {
  const { format, contentMediaType } = schema as { format?: string; contentMediaType?: string };
  if (format !== 'binary') return 'application/json';
  return contentMediaType ?? 'application/octet-stream';
};

const names = new Map<unknown, string>(
  Object.entries(namedSchemas).map(([name, schema]) => [schema, name]),
);

/** Returns a schema in which references replace the named schemas that it contains. */
const referInside = (schema: unknown): unknown => {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(refer);
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, refer(value)]));
};

const refer = (schema: unknown): unknown => {
  const name = names.get(schema);
  return name === undefined ? referInside(schema) : { $ref: `#/components/schemas/${name}` };
};

const mediaType = (schema: unknown): Json => ({
  [mediaTypeOf(schema)]: { schema: refer(schema) },
});

/**
 * Adds the protobuf form to a body's content if the operation accepts protobuf; `message` is the name of the message
 * type.
 */
const withProtobuf = ({ protobuf }: OperationShape, message: string, content: Json): Json =>
  protobuf === true
    ? {
        ...content,
        [protobufType]: { schema: { type: 'string', format: 'binary', description: message } },
      }
    : content;

const parameters = (where: 'path' | 'query' | 'header', schema: unknown): Json[] => {
  const { properties = {}, required = [] } = (schema ?? {}) as ObjectSchema;
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: rest,
  }));
};

const errorSchema = { $ref: '#/components/schemas/Error' };

const errorAnswer = (description: string): Json => ({
  description,
  content: mediaType(errorSchema),
});

/** Adds the protobuf form to error answers, because a request in protobuf is refused in protobuf. */
const withStatus = (operation: OperationShape, answers: Json): Json => {
  if (operation.protobuf !== true) return answers;
  const content = withProtobuf(operation, 'google.rpc.Status', mediaType(errorSchema));
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [status, { ...(answer as Json), content }]),
  );
};

const retryAfterHeader: Json = {
  'Retry-After': { description: 'seconds to wait', schema: { type: 'integer', minimum: 1 } },
};

const refusals = ({ refusals: own = {} }: OperationShape): Json =>
  Object.fromEntries(
    Object.entries(own).map(([status, description]) => [
      status,
      {
        ...errorAnswer(description),
        ...(status === '429' ? { headers: retryAfterHeader } : {}),
      },
    ]),
  );

const isEmpty = (schema: unknown): boolean => (schema as { type?: unknown }).type === 'null';

/** Returns the 403 answer of routes that refuse some kinds of valid credentials; an empty object for other routes. */
const refusedKinds = (access: Access): Json => {
  if (!isPublicAccess(access) || !Object.values(accessRules[access]).includes(403)) return {};
  const isOfKeyPair = access === 'write' || access === 'inspect';
  return {
    '403': errorAnswer(
      isOfKeyPair ? 'A public key may not do this.' : 'The caller may not do this.',
    ),
  };
};

const answers = (operation: OperationShape): Json => {
  const declared = Object.entries(operation.answers).map(([status, schema]) => [
    status,
    {
      description: operation.summary,
      ...(isEmpty(schema)
        ? {}
        : { content: withProtobuf(operation, 'the response of OTLP', mediaType(schema)) }),
    },
  ]);
  return {
    ...withStatus(operation, {
      '400': errorAnswer('A parameter or field is not valid; `error` lists the fields.'),
      '401': errorAnswer('Missing or invalid keys.'),
      ...refusedKinds(operation.access),
      ...refusals(operation),
      default: errorAnswer('Any other refusal.'),
    }),
    ...Object.fromEntries(declared),
  };
};

const securityOf = (access: Access): Json[] => {
  if (!isPublicAccess(access)) return [];
  const rule: AccessRule = accessRules[access];
  return [
    ...(rule.keyPair === 'taken' ? [{ keyPair: [] }] : []),
    ...(rule.publicKey === 'taken' ? [{ publicKey: [] }] : []),
    ...(rule.organizationKey === 'taken' ? [{ organizationKey: [] }] : []),
    ...(typeof rule.token === 'object' ? [{ token: [] }] : []),
  ];
};

const describeOperation = (operation: OperationShape): Json => ({
  operationId: operation.id,
  summary: operation.summary,
  security: securityOf(operation.access),
  parameters: [
    ...parameters('path', operation.params),
    ...parameters('query', operation.query),
    ...parameters('header', operation.headers),
  ],
  ...(operation.body === undefined
    ? {}
    : {
        requestBody: {
          required: !('~optional' in operation.body),
          content: withProtobuf(operation, 'the request of OTLP', mediaType(operation.body)),
        },
      }),
  responses: answers(operation),
});

const components = {
  securitySchemes: {
    keyPair: { type: 'http', scheme: 'basic', description: 'public key and secret key' },
    publicKey: { type: 'http', scheme: 'bearer', description: 'the public key, for reads' },
    organizationKey: {
      type: 'http',
      scheme: 'basic',
      description: 'public key and secret key of an organization',
    },
    token: { type: 'http', scheme: 'bearer', description: 'a personal access token, `pat_…`' },
  },
  schemas: {
    ...Object.fromEntries(
      Object.entries(namedSchemas).map(([name, schema]) => [name, referInside(schema)]),
    ),
    Error: {
      type: 'object',
      required: ['message', 'error'],
      properties: {
        message: { type: 'string' },
        error: {
          description: 'The type of the error, or the fields at fault.',
          anyOf: [
            { type: 'string' },
            {
              type: 'array',
              items: {
                type: 'object',
                required: ['path', 'message'],
                properties: {
                  path: { type: 'array', items: { type: 'string' } },
                  message: { type: 'string' },
                },
              },
            },
          ],
        },
      },
    },
  },
};

/** Builds the OpenAPI 3.1 document of an API at a base address. */
export const openApiDocument = (operations: readonly OperationShape[], baseUrl: string): Json => {
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const path = paths[operation.path] ?? {};
    paths[operation.path] = {
      ...path,
      [operation.method.toLowerCase()]: describeOperation(operation),
    };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'svc', version: '1', description: 'Worlds, their sessions and calls.' },
    servers: [{ url: baseUrl }],
    paths,
    components,
  };
};
