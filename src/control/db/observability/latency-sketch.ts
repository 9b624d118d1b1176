/**
 * How latencies spread, in buckets whose bounds grow by a constant factor, as in DDSketch: whatever lies in a bucket
 * differs from the value that stands for it by at most `sketchError` of itself. Sketches are added up bucket by bucket.
 * What is below a microsecond is zero.
 */

/** The greatest relative error of a percentile that is read from buckets. */
export const sketchError = 0.01;

const growth = (1 + sketchError) / (1 - sketchError);
const logGrowth = Math.log(growth);

const zeroBucket = -32_768;
const leastMs = 0.001;

/** How long an observation `o` took, in milliseconds; null while it has no end. SQL. */
export const latencyOf = `(case when o.end_time is not null
  then extract(epoch from greatest(o.end_time, o.began_at) - o.began_at)::float8 * 1000 end)`;

/** The bucket of milliseconds, which are SQL; null of null. */
export const bucketOf = (ms: string): string =>
  `(case when ${ms} < ${leastMs} then ${zeroBucket} else ceil(ln(${ms}) / ${logGrowth}) end)::smallint`;

/** The milliseconds that stand for a bucket, which is SQL. */
export const msOf = (bucket: string): string =>
  `(case when ${bucket} = ${zeroBucket} then 0 else ${2 / (growth + 1)} * power(${growth}::float8, ${bucket}) end)`;
