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
  description: 'media type, such as text/csv',
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
    description:
      'uploader: a public key, an e-mail address, or the connector whose sync created the file',
  }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type FileView = Static<typeof FileView>;

export const FolderView = Type.Object({
  path: Type.String(),
  name: Type.String(),
  files: Type.Integer({
    description: 'number of files directly in the folder, not in its subfolders',
  }),
  folders: Type.Integer({
    description: 'number of folders directly in the folder, not in its subfolders',
  }),
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
    Type.String({ description: 'cursor for the next page; null on the last page' }),
  ),
});

export const FileListQuery = Type.Object(
  {
    prefix: Type.Optional(FilePathText('the folder whose files and folders are listed')),
    page: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000,
        description:
          'number of the page, from 0; each page has up to `limit` folders and up to `limit` files',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.filesPageMax,
        description: 'maximum number of files, and of folders, on a page; default 50',
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2_000,
        description:
          '`nextCursor` of the previous page, in place of `page`; with it, no entry is skipped that exists throughout',
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
      Type.Boolean({
        description: 'whether an existing file at the path is replaced; default false',
      }),
    ),
  },
  { additionalProperties: false },
);

export const UploadView = Type.Object({
  fileId: Type.String(),
  path: Type.String(),
  uploadUrl: Type.String({ description: 'URL to which the bytes must be PUT within an hour' }),
  uploadHeaders: Type.Record(Type.String(), Type.String(), {
    description: 'headers to send with the PUT',
  }),
  expiresAt: Timestamp,
  held: Type.Boolean({
    description: 'whether the project already stores the bytes, so that they need not be uploaded',
  }),
});

export type UploadBody = Static<typeof UploadBody>;

export const ConfirmBody = Type.Object(
  {
    fileId: Type.String({ maxLength: limits.idChars }),
    ok: Type.Boolean({ description: 'false: cancel the upload' }),
  },
  { additionalProperties: false },
);

export const ConfirmedView = Type.Interface([FileFacts], {
  fileId: Type.String(),
  ready: Type.Boolean({ description: 'false: the upload was cancelled' }),
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
    toPath: FilePathText(
      'new path; if it ends with "/", it is the folder to move the file or folder into',
    ),
  },
  { additionalProperties: false },
);

export const FolderBody = Type.Object(
  { path: FilePathText('path of the folder; missing parent folders are created') },
  { additionalProperties: false },
);
