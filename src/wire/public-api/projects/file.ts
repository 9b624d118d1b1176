/**
 * Request and answer schemas of project files: lists of a folder, uploads to URLs of their own, downloads, moves and
 * deletions.
 */

import { filePathLimits } from '#domain/file-path.ts';
import { limits } from '#domain/limits.ts';
import { nullable, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';

/** Builds the schema of a path, with `/` between its names. */
export const FilePathText = (description: string) =>
  Type.String({ maxLength: filePathLimits.chars, description });

/** SHA-256 in base64. */
export const Sum = Type.String({
  maxLength: 44,
  pattern: '^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$',
  description: 'SHA-256 of the bytes, in base64',
});

export const contentTypePattern =
  '^[\\w!#$&^.+-]+/[\\w!#$&^.+-]+(?:; ?[\\w!#$&^.+-]+=[\\w!#$&^.+"/ -]+)*$';

export const ContentType = Type.String({
  maxLength: 255,
  pattern: contentTypePattern,
  description: 'media type, like text/csv',
});

const FileFacts = Type.Object({
  path: Type.String(),
  sizeBytes: Type.Integer({ minimum: 0 }),
  contentType: Type.String(),
  sha256: Type.String({ description: 'in base64' }),
});

export const FileView = Type.Interface([FileFacts], {
  fileId: Type.String(),
  name: Type.String(),
  author: Type.String({
    description: 'uploader: a public key, an e-mail address, or the connector that synced it',
  }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type FileView = Static<typeof FileView>;

export const FolderView = Type.Object({
  path: Type.String(),
  name: Type.String(),
  files: Type.Integer({ description: 'files directly in it' }),
  folders: Type.Integer({ description: 'folders directly in it' }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type FolderView = Static<typeof FolderView>;

export const FileList = Type.Object({
  folders: Type.Array(FolderView),
  files: Type.Array(FileView),
  totalFiles: Type.Integer({ description: 'files directly in the folder' }),
  totalFolders: Type.Integer({ description: 'folders directly in the folder' }),
  nextCursor: nullable(
    Type.String({ description: '`cursor` of the next page; null on the last page' }),
  ),
});

export const FileListQuery = Type.Object(
  {
    prefix: Type.Optional(FilePathText('the folder whose files and folders are listed')),
    page: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000,
        description: 'from 0; a page has its share of the folders and of the files',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.filesPageMax,
        description: 'files a page, and folders; 50 unless given',
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2_000,
        description:
          '`nextCursor` of the page before, in place of `page`: misses nothing that stays',
      }),
    ),
  },
  { additionalProperties: false },
);
export type FileListQuery = Static<typeof FileListQuery>;

export const UploadBody = Type.Object(
  {
    path: FilePathText('path of the new file; missing folders are created'),
    contentLength: Type.Integer({ minimum: 0, maximum: limits.fileBytes }),
    contentType: ContentType,
    sha256: Sum,
    overwrite: Type.Optional(
      Type.Boolean({ description: 'whether a file at the path is replaced; false unless given' }),
    ),
  },
  { additionalProperties: false },
);

export const UploadView = Type.Object({
  fileId: Type.String(),
  path: Type.String(),
  uploadUrl: Type.String({ description: 'where to PUT the bytes within an hour' }),
  uploadHeaders: Type.Record(Type.String(), Type.String(), {
    description: 'headers to PUT them with',
  }),
  expiresAt: Timestamp,
  held: Type.Boolean({
    description: 'whether the project has the bytes already, so that they need not be uploaded',
  }),
});

export type UploadBody = Static<typeof UploadBody>;

export const ConfirmBody = Type.Object(
  {
    fileId: Type.String({ maxLength: limits.idChars }),
    ok: Type.Boolean({ description: 'false: the upload is given up' }),
  },
  { additionalProperties: false },
);

export const ConfirmedView = Type.Interface([FileFacts], {
  fileId: Type.String(),
  ready: Type.Boolean({ description: 'false: the upload was given up' }),
});

export const DownloadView = Type.Interface([FileFacts], {
  url: Type.String({ description: 'address of the bytes; it needs no key' }),
  urlExpiry: Timestamp,
});

export const PathQuery = Type.Object(
  { path: FilePathText('path of a file, or of a folder where folders are allowed') },
  { additionalProperties: false },
);

export type ConfirmedView = Static<typeof ConfirmedView>;
export type DownloadView = Static<typeof DownloadView>;

export const MoveBody = Type.Object(
  {
    fromPath: FilePathText('path of a file or a folder'),
    toPath: FilePathText('its new path; a path that ends with "/" is the folder to move it into'),
  },
  { additionalProperties: false },
);

export const FolderBody = Type.Object(
  { path: FilePathText('path of the folder; missing parent folders are created') },
  { additionalProperties: false },
);
