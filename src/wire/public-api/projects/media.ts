/** Media: files that traces and dataset items refer to, as the SDKs of the field upload them. */
import { limits } from '#domain/limits.ts';
import { getOperation, operation } from '../../operation.ts';
import { nullable, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { Done, LongId } from '../observability/trace.ts';
import { ContentType, Sum } from './file.ts';

export const mediaFields = ['input', 'output', 'metadata', 'expectedOutput'] as const;

export const MediaBody = Type.Object({
  traceId: Type.Optional(LongId),
  observationId: Type.Optional(LongId),
  datasetId: Type.Optional(LongId),
  datasetItemId: Type.Optional(LongId),
  field: oneOf(mediaFields, 'the field that holds the reference'),
  contentType: ContentType,
  contentLength: Type.Integer({ minimum: 1, maximum: limits.fileBytes }),
  sha256Hash: Sum,
});
export type MediaBody = Static<typeof MediaBody>;

const UploadReport = Type.Object({
  uploadedAt: Type.String({
    maxLength: 40,
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d+)?)?(?:Z|[+-]\\d\\d:?\\d\\d)$',
    description: 'ISO 8601 time with its UTC offset',
  }),
  uploadHttpStatus: Type.Integer({ minimum: 0, maximum: 999 }),
  uploadHttpError: Type.Optional(Type.String({ maxLength: 100_000 })),
  uploadTimeMs: Type.Optional(Type.Number()),
});
export type UploadReport = Static<typeof UploadReport>;

const MediaParams = Type.Object({ mediaId: LongId });

export const requestMediaUpload = operation({
  id: 'requestMediaUpload',
  summary: 'Request an address for the upload of media of a trace or of a dataset item',
  method: 'POST',
  path: '/media',
  access: 'write',
  unknown: 'ignored',
  body: MediaBody,
  answers: {
    201: Type.Object({
      mediaId: Type.String({ description: 'id derived from the digest' }),
      uploadUrl: nullable(
        Type.String({
          description: 'address to PUT the bytes to; null: the project already stores the bytes',
        }),
      ),
    }),
  },
  refusals: { 429: 'A quota of the project is used up: `quota` names it.' },
});

export const getMedia = getOperation({
  id: 'getMedia',
  summary: 'Media, with an address for reading it',
  path: '/media/{mediaId}',
  access: 'write',
  unknown: 'ignored',
  params: MediaParams,
  answer: Type.Object({
    mediaId: Type.String(),
    contentType: Type.String(),
    contentLength: Type.Integer(),
    uploadedAt: Timestamp,
    url: Type.String(),
    urlExpiry: Timestamp,
  }),
});

export const reportMediaUpload = operation({
  id: 'reportMediaUpload',
  summary:
    'Report the result of an upload; the bytes of a successful one are checked against the announced size and digest',
  method: 'PATCH',
  path: '/media/{mediaId}',
  access: 'write',
  unknown: 'ignored',
  params: MediaParams,
  body: UploadReport,
  answers: { 200: Done },
  refusals: { 409: 'Nothing was uploaded to the address.' },
});
