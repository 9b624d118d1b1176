/** Settings of the blob store, read from the environment. */
import type { EnvReader } from '#runtime/env.ts';
import type { BlobStoreConfig } from './blobs.ts';

/** Form of `s3://bucket/prefix`: a bucket's name by Amazon's rules, then path segments that do not begin with a dot. */
const bucketUrl = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[\w-][\w.-]*)*)\/?$/;

const isPlainUrl = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && `${url.username}${url.password}` === '';
};

/**
 * Reads a bucket store from the variables of Amazon's own tools, and from variables of this service for all other
 * settings.
 */
const readBucket = (env: EnvReader, url: string): BlobStoreConfig => {
  const [, bucket = '', path = ''] = bucketUrl.exec(url) ?? [];
  if (bucket === '') {
    env.refuse(`SVC_BLOB_URL is "${url}", not "database", s3://bucket or s3://bucket/prefix`);
  }
  const endpoint = env.optionalText('AWS_ENDPOINT_URL_S3');
  if (endpoint !== undefined && !isPlainUrl(endpoint)) {
    env.refuse('AWS_ENDPOINT_URL_S3 is not an http or https address without a user in it');
  }
  const region = env.optionalText('AWS_REGION');
  if (region === undefined && endpoint === undefined) {
    env.refuse('AWS_REGION is not set: SVC_BLOB_URL needs the region of its bucket');
  }
  const pathStyle = endpoint === undefined ? 'no' : 'yes';
  return {
    kind: 's3',
    bucket,
    prefix: path.slice(1),
    region: region ?? 'us-east-1',
    endpoint: endpoint ?? null,
    pathStyle: env.choice('SVC_BLOB_PATH_STYLE', ['yes', 'no'], pathStyle) === 'yes',
  };
};

/** Reads the blob store. Exactly one must be set: replicas with different stores would not find each other's worlds. */
export const readBlobs = (env: EnvReader): BlobStoreConfig => {
  const folder = env.optionalText('SVC_BLOB_DIR');
  const url = env.optionalText('SVC_BLOB_URL');
  if (folder !== undefined && url !== undefined) {
    env.refuse('SVC_BLOB_DIR and SVC_BLOB_URL are both set: blobs are in one place');
  }
  if (folder === undefined && url === undefined) {
    env.refuse(
      'neither SVC_BLOB_DIR (a folder) nor SVC_BLOB_URL (s3://bucket/prefix or database) is set',
    );
  }
  if (url === 'database') return { kind: 'database' };
  return url === undefined ? { kind: 'folder', folder: folder ?? '' } : readBucket(env, url);
};
