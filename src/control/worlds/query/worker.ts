/** Program of the query processes. A process reads rows from store files, and writes indexes next to them. */
import { serveJobs } from '../compile/serve-jobs.ts';
import type { FieldIndexJob } from './field-indexes.ts';
import { createQueries, type QueryJob, writeIndex } from './job.ts';

const query = createQueries();
serveJobs((job: QueryJob | FieldIndexJob) =>
  job.kind === 'query' ? query(job) : writeIndex(job.plan),
);
