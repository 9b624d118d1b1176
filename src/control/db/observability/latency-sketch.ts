/**
 * Latency sketches: histograms with exponential buckets, as in DDSketch. The relative difference between a value and
 * the value that represents its bucket is at most `sketchError`. Sketches are merged by adding their buckets. Latencies
 * below a microsecond count as zero.
 */

/** Maximum relative error of a percentile that is computed from buckets. */
export const sketchError = 0.01;

const growth = (1 + sketchError) / (1 - sketchError);
const logGrowth = Math.log(growth);

const zeroBucket = -32_768;
const leastMs = 0.001;

/** SQL for the latency of an observation `o`, in milliseconds; null while the observation has no end. */
export const latencyOf = `(case when o.end_time is not null
  then extract(epoch from greatest(o.end_time, o.began_at) - o.began_at)::float8 * 1000 end)`;

/** Returns the SQL for the bucket of a latency; `ms` is SQL. A null latency has a null bucket. */
export const bucketOf = (ms: string): string =>
  `(case when ${ms} < ${leastMs} then ${zeroBucket} else ceil(ln(${ms}) / ${logGrowth}) end)::smallint`;

/** Returns the SQL for the milliseconds that represent a bucket; `bucket` is SQL. */
export const msOf = (bucket: string): string =>
  `(case when ${bucket} = ${zeroBucket} then 0 else ${2 / (growth + 1)} * power(${growth}::float8, ${bucket}) end)`;
